import {
  Alert,
  Badge,
  Button,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  Table,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useCanEdit } from '../../api/session.js';
import { KeyLimit } from './key-limit.js';
import { Confirm } from '../../parts/confirm.js';
import { CopyField } from '../../parts/copy-field.js';
import { showFaults, shownPathsIn } from '../../parts/faults.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

const KEYS = ['/v1/keys'] as const;
const EXPIRIES = [
  { value: '', label: 'never expires' },
  { value: '7', label: 'expires in 7 days' },
  { value: '30', label: 'expires in 30 days' },
  { value: '365', label: 'expires in a year' },
];

/** Creates, lists and revokes the keys of programs, and changes what agents may spend with a key. */
export function ApiKeys() {
  const canEdit = useCanEdit();
  if (!canEdit) return <Empty icon={KeyRound} title="Keys are for editors and owners" />;
  return (
    <Stack gap="lg">
      <NewKey />
      <KeyTable />
    </Stack>
  );
}

function NewKey() {
  const queries = useQueryClient();
  const form = useForm({
    initialValues: { name: '', scope: 'write', days: '', mcpDailyCredits: '' as number | string },
  });
  const create = useMutation({
    mutationFn: () => {
      const { name, scope, days, mcpDailyCredits: limit } = form.values;
      const expiresAt = days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined;
      return api.post('/v1/keys', {
        body: {
          name: name.trim(),
          scope: scope as 'read' | 'write',
          ...(expiresAt && { expiresAt }),
          ...(limit !== '' && { mcpDailyCredits: Number(limit) }),
        },
      });
    },
    onSuccess: async () => {
      form.reset();
      await queries.invalidateQueries({ queryKey: KEYS });
    },
    onError: (error) => showFaults(form, error),
  });
  return (
    <Section
      title="New key"
      lead="Programs send the key in the header x-api-key. A key never allows more than the role of the member who created it."
    >
      <Stack>
        <form onSubmit={form.onSubmit(() => create.mutate())}>
          <Group align="flex-start">
            <TextInput
              aria-label="Name"
              placeholder="Name, such as Reports"
              required
              maxLength={80}
              miw={220}
              {...form.getInputProps('name')}
            />
            <NativeSelect
              aria-label="Scope"
              data={[
                { value: 'write', label: 'reads and writes' },
                { value: 'read', label: 'reads' },
              ]}
              {...form.getInputProps('scope')}
            />
            <NativeSelect aria-label="Expiry" data={EXPIRIES} {...form.getInputProps('days')} />
            <NumberInput
              aria-label="Credits that agents may spend a day"
              placeholder="Agents: credits a day"
              min={0}
              allowDecimal={false}
              w={180}
              {...form.getInputProps('mcpDailyCredits')}
            />
            <Button type="submit" loading={create.isPending}>
              Create the key
            </Button>
          </Group>
        </form>
        {create.error && <Problem error={create.error} shownPaths={shownPathsIn(form)} />}
        {create.data && (
          <Alert
            color="teal"
            title={
              <>
                The key “<bdi>{create.data.name}</bdi>” was created
              </>
            }
          >
            <CopyField label="Copy it now: it is shown only once" value={create.data.apiKey} />
          </Alert>
        )}
      </Stack>
    </Section>
  );
}

function KeyTable() {
  const queries = useQueryClient();
  const [revoking, setRevoking] = useState<{ id: string; name: string }>();
  const keys = useQuery({
    queryKey: KEYS,
    queryFn: ({ signal }) => api.get('/v1/keys', { query: { limit: 200 }, signal }),
  });
  const revoke = useMutation({
    mutationFn: (id: string) => api.delete('/v1/keys/{id}', { path: { id } }),
    onSuccess: async () => {
      setRevoking(undefined);
      await queries.invalidateQueries({ queryKey: KEYS });
    },
  });
  return (
    <Section title="Keys">
      <Loaded query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={KeyRound} title="No key yet" />
          ) : (
            <DataTable
              label="API keys"
              head={['Name', 'Scope', 'By', 'Last use', 'Expires', 'Agents may spend', '']}
              framed={false}
            >
              {data.map(({ id, name, scope, member, lastUsedAt, expiresAt, mcpDailyCredits }) => (
                <Table.Tr key={id}>
                  <Table.Td className="foreign">{name}</Table.Td>
                  <Table.Td>
                    <Badge color={scope === 'write' ? 'indigo' : 'gray'}>{scope}</Badge>
                  </Table.Td>
                  <Table.Td className="foreign">{member?.email ?? 'command line'}</Table.Td>
                  <Table.Td>
                    <Time at={lastUsedAt} none="never" />
                  </Table.Td>
                  <Table.Td>
                    <Time at={expiresAt} none="never" />
                  </Table.Td>
                  <Table.Td>
                    <KeyLimit id={id} name={name} credits={mcpDailyCredits} />
                  </Table.Td>
                  <Table.Td>
                    <Button size="compact-xs" variant="default" onClick={() => setRevoking({ id, name })}>
                      Revoke
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
      {revoking && (
        <Confirm
          title={
            <>
              Revoke <bdi>{revoking.name}</bdi>?
            </>
          }
          action="Revoke"
          isPending={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate(revoking.id)}
          onClose={() => setRevoking(undefined)}
        >
          Programs that use the key get 401 within 5 seconds. You cannot restore the key.
        </Confirm>
      )}
    </Section>
  );
}
