import { ActionIcon, Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { X } from 'lucide-react';
import {
  COMPARISON_NAMES,
  comparisonOf,
  comparisonsOf,
  FIELDS,
  textOf,
  thresholdOf,
  typeOf,
  valuesOf,
  withComparison,
  withField,
  withText,
  type AgentFields,
  type ClauseDraft,
  type Comparison,
} from './clauses.js';

const FIELD_OPTIONS = FIELDS.map(({ group, items }) => ({ group, items: Object.keys(items) }));
const SENTIMENTS = ['positive', 'negative', 'neutral', 'mixed'];
/** Fields of names without a comma or a space. */
const FIELDS_OF_CODES = ['source', 'kind', 'lang', 'sentiment', 'intent'];

interface Props {
  clause: ClauseDraft;
  index: number;
  /** The fields of the keyword's agent step; undefined if the keyword has none. */
  agentFields: AgentFields | undefined;
  /** The fault of the clause. */
  error: string | undefined;
  canRemove: boolean;
  onChange: (clause: ClauseDraft) => void;
  onRemove: () => void;
}

/** One clause: a field, a comparison, and a value. */
export function ClauseFields(props: Props) {
  const { clause, index, agentFields, error, canRemove, onChange, onRemove } = props;
  const { field, op } = clause;
  const name = `Clause ${index + 1}`;
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={name}>
      <Autocomplete
        w={160}
        aria-label={`${name}: field`}
        data={FIELD_OPTIONS}
        value={field}
        onChange={(next) => onChange(withField(clause, next, agentFields))}
        error={error !== undefined}
      />
      <Select
        w={180}
        aria-label={`${name}: comparison`}
        allowDeselect={false}
        data={comparisonsOf(field, agentFields).map((value) => ({ value, label: COMPARISON_NAMES[value] }))}
        value={comparisonOf(clause)}
        onChange={(next) => next && onChange(withComparison(clause, next as Comparison))}
      />
      {op !== 'exists' && <ValueField {...{ name, clause, agentFields, error, onChange }} />}
      {op === 'similar_to' && (
        <NumberInput
          w={100}
          aria-label={`${name}: how similar, from 0 to 1`}
          min={0}
          max={1}
          step={0.05}
          value={thresholdOf(clause)}
          onChange={(next) =>
            onChange({ ...clause, value: { text: textOf(clause), threshold: Number(next) || 0 } })
          }
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
  agentFields,
  error,
  onChange,
}: { name: string } & Pick<Props, 'clause' | 'agentFields' | 'error' | 'onChange'>) {
  const { field, op } = clause;
  const type = typeOf(field, agentFields);
  const common = { flex: 1, miw: 160, 'aria-label': `${name}: value`, error };
  if (op === 'in') {
    const values = valuesOf(clause);
    const isOfCodes = type === 'number' || FIELDS_OF_CODES.includes(field);
    return (
      <TagsInput
        {...common}
        placeholder={values.length > 0 ? undefined : 'Press Enter after each value'}
        // A text, such as the name of an author, can contain a comma.
        splitChars={isOfCodes ? [',', ' ', '\n'] : ['\n']}
        value={values}
        onChange={(next) => onChange({ ...clause, value: next.filter((one) => one.trim() !== '') })}
      />
    );
  }
  const suggestions = type === 'boolean' ? ['true', 'false'] : field === 'sentiment' ? SENTIMENTS : undefined;
  const change = (text: string) => onChange(withText(clause, text));
  if (suggestions)
    return <Autocomplete {...common} data={suggestions} value={textOf(clause)} onChange={change} />;
  return (
    <TextInput
      {...common}
      placeholder={type === 'number' ? '20' : ''}
      value={textOf(clause)}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
