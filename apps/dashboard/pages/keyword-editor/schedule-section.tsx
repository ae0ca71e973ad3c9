import { Group, Stack, Switch, TextInput } from '@mantine/core';
import { useSession } from '../../api/session.js';
import { Section } from '../../parts/section.js';
import { useDraft } from './draft.js';
import { wallClock } from './wall-clock.js';

/** When the keyword runs, and whether a new keyword keeps existing posts. */
export function ScheduleSection({ isNew }: { isNew: boolean }) {
  const form = useDraft();
  const { account } = useSession();
  const { schedule } = form.values;
  const local = (path: string) => {
    const { value, onChange, error } = form.getInputProps(path) as {
      value: string;
      onChange: (value: string) => void;
      error?: string;
    };
    // The browser's field supports no zones, and this form shows no seconds. A stored time with a zone or with seconds
    // stays unchanged until the member changes it.
    return {
      value: wallClock(value, schedule?.timezone ?? account.timezone),
      error,
      onChange: (event: React.ChangeEvent<HTMLInputElement>) => onChange(event.currentTarget.value),
    };
  };
  return (
    <Section title="When">
      <Stack>
        {isNew && (
          <Switch
            label="Keep existing posts (first scan)"
            description="Mentions of the first scan are never sent to webhooks or channels. The first scan is charged once."
            {...form.getInputProps('backfill', { type: 'checkbox' })}
          />
        )}
        <Switch
          label="Run only in a period"
          checked={schedule !== null}
          onChange={({ currentTarget }) =>
            form.setFieldValue(
              'schedule',
              currentTarget.checked ? { startsAt: '', endsAt: '', timezone: account.timezone } : null,
            )
          }
        />
        {schedule && (
          <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
            <TextInput label="From" type="datetime-local" miw={190} {...local('schedule.startsAt')} />
            <TextInput label="Until" type="datetime-local" miw={190} {...local('schedule.endsAt')} />
            <TextInput label="Time zone" miw={150} {...form.getInputProps('schedule.timezone')} />
          </Group>
        )}
      </Stack>
    </Section>
  );
}
