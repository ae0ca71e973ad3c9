import { ActionIcon, Button, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useIsOwner, useSession, type Session } from '../../api/session.js';
import { Confirm } from '../../parts/confirm.js';
import { CopyField } from '../../parts/copy-field.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { words } from '../../parts/format.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { useRowChange } from './use-row-change.js';

type Role = Session['member']['role'];
const ROLES = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'editor', label: 'Editor: also changes keywords, channels, labels' },
  { value: 'owner', label: 'Owner: everything' },
];

/** Members of the account, their roles, and invitations. */
export function Members() {
  const isOwner = useIsOwner();
  return (
    <Stack gap="lg">
      <MemberTable />
      {isOwner && <Invitations />}
    </Stack>
  );
}

function MemberTable() {
  const isOwner = useIsOwner();
  const { member: self } = useSession();
  const [leaving, setLeaving] = useState<{ id: string; email: string }>();
  const queries = useQueryClient();
  const members = useQuery({
    queryKey: ['/v1/members'],
    queryFn: ({ signal }) => api.get('/v1/members', { query: { limit: 200 }, signal }),
  });
  const setRole = useRowChange(
    '/v1/members',
    'The role was not changed',
    ({ id, role }: { id: string; role: Role }) =>
      api.patch('/v1/members/{id}', { path: { id }, body: { role } }),
  );
  const remove = useMutation({
    mutationFn: (id: string) => api.delete('/v1/members/{id}', { path: { id } }),
    onSuccess: async () => {
      setLeaving(undefined);
      await queries.invalidateQueries({ queryKey: ['/v1/members'] });
    },
  });
  return (
    <Section
      title="Members"
      lead="A new role applies to the sessions of the member immediately, and to the API keys within 5 seconds."
    >
      <Loaded query={members}>
        {({ data }) => (
          <DataTable label="Members" head={['Email', 'Role', 'Joined', 'Last seen', '']} framed={false}>
            {data.map(({ id, email, role, joinedAt, lastSeenAt }) => (
              <Table.Tr key={id}>
                <Table.Td className="foreign">
                  {email}
                  {id === self.id && ' (you)'}
                </Table.Td>
                <Table.Td>
                  {isOwner && id !== self.id ? (
                    <NativeSelect
                      size="xs"
                      aria-label={`Role of ${email}`}
                      data={['viewer', 'editor', 'owner'].map((value) => ({ value, label: words(value) }))}
                      value={role}
                      onChange={({ currentTarget }) =>
                        setRole.mutate({ id, role: currentTarget.value as Role })
                      }
                    />
                  ) : (
                    words(role)
                  )}
                </Table.Td>
                <Table.Td>
                  <Time at={joinedAt} />
                </Table.Td>
                <Table.Td>
                  <Time at={lastSeenAt} none="never" />
                </Table.Td>
                <Table.Td>
                  {isOwner && id !== self.id && (
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={`Remove ${email}`}
                      onClick={() => setLeaving({ id, email })}
                    >
                      <Trash2 size={16} aria-hidden />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </Loaded>
      {leaving && (
        <Confirm
          title={`Remove ${leaving.email}?`}
          action="Remove"
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(leaving.id)}
          onClose={() => setLeaving(undefined)}
        >
          The sessions of this member end immediately, and the keys that the member created are revoked.
        </Confirm>
      )}
    </Section>
  );
}

function Invitations() {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { email: '', role: 'editor' as Role } });
  const invitations = useQuery({
    queryKey: ['/v1/invitations'],
    queryFn: ({ signal }) => api.get('/v1/invitations', { query: { limit: 200 }, signal }),
  });
  const invite = useMutation({
    mutationFn: () =>
      api.post('/v1/invitations', { body: { ...form.values, email: form.values.email.trim() } }),
    onSuccess: async () => {
      form.reset();
      await queries.invalidateQueries({ queryKey: ['/v1/invitations'] });
    },
    onError: (error) => showFaults(form, error),
  });
  const revoke = useRowChange('/v1/invitations', 'The invitation was not revoked', (id: string) =>
    api.delete('/v1/invitations/{id}', { path: { id } }),
  );
  return (
    <Section
      title="Invitations"
      lead="The link is shown once and works for 7 days. Earshot sends no mail: send the link to the person yourself."
    >
      <Stack>
        <form onSubmit={form.onSubmit(() => invite.mutate())}>
          <Group align="flex-start">
            <TextInput
              aria-label="Email"
              placeholder="bob@example.org"
              type="email"
              required
              miw={220}
              {...form.getInputProps('email')}
            />
            <NativeSelect aria-label="Role" data={ROLES} {...form.getInputProps('role')} />
            <Button type="submit" loading={invite.isPending}>
              Invite
            </Button>
          </Group>
        </form>
        {invite.error && <Problem error={invite.error} shownPaths={shownPathsIn(form)} />}
        {invite.data && <CopyField label={`Link for ${invite.data.email}`} value={invite.data.url} />}
        <Loaded query={invitations}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm" c="dimmed">
                No open invitation.
              </Text>
            ) : (
              <DataTable
                label="Invitations"
                head={['Email', 'Role', 'Expires', '']}
                framed={false}
                minWidth={420}
              >
                {data.map(({ id, email, role, expiresAt }) => (
                  <Table.Tr key={id}>
                    <Table.Td className="foreign">{email}</Table.Td>
                    <Table.Td>{words(role)}</Table.Td>
                    <Table.Td>
                      <Time at={expiresAt} />
                    </Table.Td>
                    <Table.Td>
                      <Button size="compact-xs" variant="default" onClick={() => revoke.mutate(id)}>
                        Revoke
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
            )
          }
        </Loaded>
      </Stack>
    </Section>
  );
}
