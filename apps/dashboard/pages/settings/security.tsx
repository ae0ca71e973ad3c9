import { Badge, Button, Group, PasswordInput, Stack, Table } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { notify } from '../../parts/notify.js';
import { NewPasswordField } from '../../parts/password-field.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useRowChange } from './use-row-change.js';

/** The member's password and open sessions. */
export function Security() {
  return (
    <Stack gap="lg">
      <PasswordForm />
      <Sessions />
    </Stack>
  );
}

function PasswordForm() {
  const form = useForm({ initialValues: { currentPassword: '', newPassword: '' } });
  const change = useMutation({
    mutationFn: () => api.post('/v1/auth/password', { body: form.values }),
    onSuccess: () => {
      form.reset();
      notify('The password was changed. All other sessions have ended.');
    },
    onError: (error) => showFaults(form, error),
  });
  return (
    <Section title="Password" lead="A change of the password ends all your other sessions.">
      <form onSubmit={form.onSubmit(() => change.mutate())}>
        <Stack maw={420}>
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            required
            {...form.getInputProps('currentPassword')}
          />
          <NewPasswordField label="New password" {...form.getInputProps('newPassword')} />
          {change.error && <Problem error={change.error} shownPaths={shownPathsIn(form)} />}
          <Group justify="flex-end">
            <Button type="submit" loading={change.isPending}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Sessions() {
  const sessions = useQuery({
    queryKey: ['/v1/auth/sessions'],
    queryFn: ({ signal }) => api.get('/v1/auth/sessions', { signal }),
  });
  const end = useRowChange('/v1/auth/sessions', 'The session was not ended', (id: string) =>
    api.delete('/v1/auth/sessions/{id}', { path: { id } }),
  );
  return (
    <Section title="Sessions" lead="Browsers in which you are signed in.">
      <Loaded query={sessions}>
        {({ data }) => (
          <DataTable label="Sessions" head={['Browser', 'Address', 'Last seen', 'Ends', '']} framed={false}>
            {data.map(({ id, userAgent, networkAddress, lastSeenAt, expiresAt, current }) => (
              <Table.Tr key={id}>
                <Table.Td maw={320} className="foreign">
                  {userAgent}
                </Table.Td>
                <Table.Td>{networkAddress}</Table.Td>
                <Table.Td>
                  <Time at={lastSeenAt} />
                </Table.Td>
                <Table.Td>
                  <Time at={expiresAt} />
                </Table.Td>
                <Table.Td>
                  {current ? (
                    <Badge color="teal">This session</Badge>
                  ) : (
                    <Button size="compact-xs" variant="default" onClick={() => end.mutate(id)}>
                      End
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </Loaded>
    </Section>
  );
}
