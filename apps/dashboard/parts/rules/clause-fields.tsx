import { ActionIcon, Autocomplete, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { X } from 'lucide-react';
import { FIELDS, OPERATOR_NAMES, operatorsOf, typeOf, type ClauseDraft, type Operator } from './clauses.js';

const FIELD_OPTIONS = FIELDS.map(({ group, items }) => ({ group, items: Object.keys(items) }));
const SUGGESTIONS: Readonly<Record<string, readonly string[]>> = {
  sentiment: ['positive', 'negative', 'neutral', 'mixed'],
  vip: ['true', 'false'],
};

interface Props {
  clause: ClauseDraft;
  index: number;
  /** The fault of the clause. */
  error: string | undefined;
  canRemove: boolean;
  onChange: (clause: ClauseDraft) => void;
  onRemove: () => void;
}

/** One clause: a field, an operator, and a value. */
export function ClauseFields({ clause, index, error, canRemove, onChange, onRemove }: Props) {
  const { field, op, value, threshold } = clause;
  const name = `Clause ${index + 1}`;
  const chooseField = (next: string) => {
    const fitting = operatorsOf(next);
    onChange({ ...clause, field: next, op: fitting.includes(op) ? op : (fitting[0] ?? 'eq') });
  };
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={name}>
      <Autocomplete
        w={160}
        aria-label={`${name}: field`}
        data={FIELD_OPTIONS}
        value={field}
        onChange={chooseField}
        error={error !== undefined}
      />
      <Select
        w={180}
        aria-label={`${name}: comparison`}
        allowDeselect={false}
        data={operatorsOf(field).map((one) => ({ value: one, label: OPERATOR_NAMES[one] }))}
        value={op}
        onChange={(next) => next && onChange({ ...clause, op: next as Operator })}
      />
      {op !== 'exists' && (
        <ValueField
          name={name}
          clause={clause}
          error={error}
          onChange={(next) => onChange({ ...clause, value: next })}
          value={value}
        />
      )}
      {op === 'similar_to' && (
        <NumberInput
          w={100}
          aria-label={`${name}: how similar, from 0 to 1`}
          min={0}
          max={1}
          step={0.05}
          value={threshold}
          onChange={(next) => onChange({ ...clause, threshold: Number(next) || 0 })}
        />
      )}
      <ActionIcon
        mt={4}
        variant="subtle"
        color="gray"
        aria-label={`Remove clause ${index + 1}`}
        disabled={!canRemove}
        onClick={onRemove}
      >
        <X size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

function ValueField({
  name,
  clause,
  value,
  error,
  onChange,
}: {
  name: string;
  clause: ClauseDraft;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const suggestions = SUGGESTIONS[clause.field];
  const label = `${name}: value`;
  const placeholder = clause.op === 'in' ? 'one, two, three' : typeOf(clause.field) === 'number' ? '20' : '';
  if (suggestions && clause.op !== 'in')
    return (
      <Autocomplete
        flex={1}
        miw={160}
        aria-label={label}
        data={[...suggestions]}
        value={value}
        error={error}
        onChange={onChange}
      />
    );
  return (
    <TextInput
      flex={1}
      miw={160}
      aria-label={label}
      placeholder={placeholder}
      value={value}
      error={error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
