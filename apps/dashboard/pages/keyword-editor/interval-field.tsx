import { Group, Input, NativeSelect, NumberInput } from '@mantine/core';
import { useId, useState } from 'react';
import { useDraft } from './draft.js';

const UNITS = [
  { value: '86400', label: 'days' },
  { value: '3600', label: 'hours' },
  { value: '60', label: 'minutes' },
  { value: '1', label: 'seconds' },
];

const unitOf = (seconds: number) =>
  UNITS.find(({ value }) => seconds > 0 && seconds % Number(value) === 0)?.value ?? '1';

interface Props {
  label: string;
  /** The path of the field in the draft. The field contains a number of seconds. */
  path: string;
  description?: string;
  /** A text that states the meaning of an empty field. If this text is absent, the field must not be empty. */
  empty?: string;
}

/** Shows the field of an interval, in the largest unit that gives a whole number. */
export function IntervalField({ label, path, description, empty }: Props) {
  const form = useDraft();
  const id = useId();
  const { value, onChange, error } = form.getInputProps(path) as {
    value: number | null | undefined;
    onChange: (value: number | null) => void;
    error?: string;
  };
  const [unit, setUnit] = useState(() => unitOf(value ?? 0));
  const size = Number(unit);
  return (
    <Input.Wrapper id={id} label={label} description={description} error={error} miw={200}>
      <Group gap={6} wrap="nowrap" mt={description ? 5 : 0}>
        <NumberInput
          id={id}
          flex={1}
          min={1}
          allowDecimal={false}
          error={error !== undefined}
          placeholder={empty}
          value={value ? value / size : ''}
          onChange={(next) => onChange(next === '' ? (empty === undefined ? 0 : null) : Number(next) * size)}
        />
        <NativeSelect
          aria-label={`Unit of: ${label}`}
          data={UNITS}
          value={unit}
          onChange={({ currentTarget }) => {
            setUnit(currentTarget.value);
            if (value) onChange(Math.max(1, Math.round(value / size)) * Number(currentTarget.value));
          }}
        />
      </Group>
    </Input.Wrapper>
  );
}
