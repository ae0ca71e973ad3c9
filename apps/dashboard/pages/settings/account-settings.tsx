import { Button, Group, NativeSelect, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readSession } from '../../api/auth.js';
import { api } from '../../api/client.js';
import { useIsOwner } from '../../api/session.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { words } from '../../parts/format.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { useUnsavedWarning } from '../../parts/unsaved-warning.js';
import { PlanAndPacks } from './plan-and-packs.js';

const ACCOUNT = ['/v1/account'] as const;

/** Name, time zone, signatures, plan and packs. */
export function AccountSettings() {
  const account = useQuery({
    queryKey: ACCOUNT,
    queryFn: ({ signal }) => api.get('/v1/account', { signal }),
  });
  return (
    <Loaded query={account} loading={<LoadingRows rows={2} height={180} />}>
      {(found) => (
        <Stack gap="lg">
          <AccountForm account={found} />
          <PlanAndPacks plan={found.plan} />
          <Text size="xs" c="dimmed">
            Account {found.id}
          </Text>
        </Stack>
      )}
    </Loaded>
  );
}

interface Account {
  name: string | null;
  timezone: string;
  signatureVersion: 'v1' | 'legacy';
}

function AccountForm({ account }: { account: Account }) {
  const isOwner = useIsOwner();
  const queries = useQueryClient();
  const form = useForm({ initialValues: valuesOf(account) });
  useUnsavedWarning(() => form.isDirty());
  const save = useMutation({
    // Only the changed fields are sent, because another owner can have changed the others since the page was loaded.
    mutationFn: () =>
      api.patch('/v1/account', {
        body: {
          ...(form.isDirty('name') && { name: form.values.name.trim() || null }),
          ...(form.isDirty('timezone') && { timezone: form.values.timezone }),
          ...(form.isDirty('signatureVersion') && { signatureVersion: form.values.signatureVersion }),
        },
      }),
    onSuccess: async (answer) => {
      queries.setQueryData(ACCOUNT, answer);
      form.setValues(valuesOf(answer));
      form.resetDirty(valuesOf(answer));
      await readSession();
      notify('The account was changed.');
    },
    onError: (error) => showFaults(form, error),
  });
  return (
    <Section title="Account">
      <form onSubmit={form.onSubmit(() => save.mutate())}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <TextInput
              label="Name"
              maxLength={80}
              disabled={!isOwner || save.isPending}
              {...form.getInputProps('name')}
            />
            <Select
              label="Time zone"
              description="The times of digests are in this time zone"
              searchable
              allowDeselect={false}
              disabled={!isOwner || save.isPending}
              data={timeZones(account.timezone)}
              {...form.getInputProps('timezone')}
            />
            <NativeSelect
              label="Signatures of webhooks"
              description="Legacy: the HMAC of the body alone"
              disabled={!isOwner || save.isPending}
              data={['v1', 'legacy'].map((value) => ({ value, label: words(value) }))}
              {...form.getInputProps('signatureVersion')}
            />
          </SimpleGrid>
          {save.error && <Problem error={save.error} shownPaths={shownPathsIn(form)} />}
          {isOwner && (
            <Group justify="flex-end">
              <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
                Save
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  );
}

const valuesOf = ({ name, timezone, signatureVersion }: Account) => ({
  name: name ?? '',
  timezone,
  signatureVersion,
});

/** Returns the time zones that the browser knows, and the current time zone of the account. */
const timeZones = (current: string) => [...new Set([current, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
