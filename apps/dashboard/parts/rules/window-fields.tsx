import { Group, NumberInput, Select } from '@mantine/core';
import type { RuleDraft } from './rule-draft.js';

/** The fields of a condition on a window: its length, and how many mentions fulfil it. */
export function WindowFields({
  rule,
  faultAt,
  set,
}: {
  rule: RuleDraft;
  /** The fault at a path inside the rule: `when.min`. */
  faultAt: (path: string) => string | undefined;
  set: (change: Partial<RuleDraft>) => void;
}) {
  const what = rule.kind === 'volume' ? 'mentions' : 'negative mentions';
  return (
    <Group align="flex-end" gap="sm">
      <Select
        w={160}
        label="Within"
        allowDeselect={false}
        value={rule.window}
        data={[
          { value: '1h', label: 'one hour' },
          { value: '24h', label: '24 hours' },
        ]}
        onChange={(window) => window && set({ window: window as RuleDraft['window'] })}
      />
      <NumberInput
        w={170}
        label={`At least this many ${what}`}
        min={1}
        value={rule.min}
        error={faultAt('when.min')}
        onChange={(min) => set({ min: Number(min) || 1 })}
      />
      <NumberInput
        w={190}
        label="And at least this many times the usual number"
        min={1}
        step={0.5}
        value={rule.multiple}
        error={faultAt('when.multiple')}
        onChange={(multiple) => set({ multiple: Number(multiple) || 1 })}
      />
    </Group>
  );
}
