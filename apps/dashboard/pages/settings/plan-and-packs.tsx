import { Button, Group, NativeSelect, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readSession } from '../../api/auth.js';
import { api } from '../../api/client.js';
import { useIsOwner } from '../../api/session.js';
import { DataTable } from '../../parts/table.js';
import { Table } from '@mantine/core';
import { count, plural, words } from '../../parts/format.js';
import { notify } from '../../parts/notify.js';
import { Problem } from '../../parts/problem.js';
import { Section } from '../../parts/section.js';
import { Time } from '../../parts/time.js';

const PLANS = ['free', 'solo', 'growth', 'pro', 'unlimited'] as const;
type Plan = (typeof PLANS)[number];

/**
 * The plan and the packs of credits. If the operator allows changes of plans and packs only with the command line, the
 * API refuses a change with this reason.
 */
export function PlanAndPacks({ plan }: { plan: Plan }) {
  const isOwner = useIsOwner();
  const queries = useQueryClient();
  const credits = useQuery({
    queryKey: ['/v1/credits'],
    queryFn: ({ signal }) => api.get('/v1/credits', { signal }),
  });
  const [chosen, setChosen] = useState(plan);
  const [amount, setAmount] = useState<number | string>(50_000);
  const refresh = () =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => /credits|account/.test(String(queryKey[0])) });
  const change = useMutation({
    mutationFn: () => api.post('/v1/account/plan', { body: { plan: chosen } }),
    onSuccess: async () => {
      await Promise.all([refresh(), readSession()]);
      notify('The plan was changed.');
    },
  });
  const add = useMutation({
    mutationFn: () => api.post('/v1/credits/packs', { body: { credits: Number(amount) } }),
    onSuccess: async ({ granted }) => {
      await refresh();
      notify(`${plural(granted, 'credit was', 'credits were')} added.`);
    },
  });
  const packs = credits.data?.packs ?? [];
  return (
    <Section
      title="Plan and packs"
      lead="After a change to a smaller plan, Earshot pauses keywords that exceed the limits of the new plan. Packs are used after the allowance."
    >
      <Stack>
        <Group align="flex-end">
          <NativeSelect
            label="Plan"
            disabled={!isOwner}
            data={PLANS.map((value) => ({ value, label: words(value) }))}
            value={chosen}
            onChange={({ currentTarget }) => setChosen(currentTarget.value as Plan)}
          />
          {isOwner && (
            <Button
              variant="default"
              disabled={chosen === plan}
              loading={change.isPending}
              onClick={() => change.mutate()}
            >
              Change the plan
            </Button>
          )}
          {isOwner && (
            <>
              <NumberInput
                label="Credits of a pack"
                w={150}
                min={1}
                thousandSeparator
                value={amount}
                onChange={setAmount}
              />
              <Button
                variant="default"
                loading={add.isPending}
                disabled={Number(amount) < 1}
                onClick={() => add.mutate()}
              >
                Add a pack
              </Button>
            </>
          )}
        </Group>
        {change.error && <Problem error={change.error} />}
        {add.error && <Problem error={add.error} />}
        {packs.length > 0 ? (
          <DataTable label="Packs" head={['Granted', 'Remaining', 'Expires']} framed={false} minWidth={320}>
            {packs.map(({ id, granted, remaining, expiresAt }) => (
              <Table.Tr key={id}>
                <Table.Td>{count(granted)}</Table.Td>
                <Table.Td>{count(remaining)}</Table.Td>
                <Table.Td>
                  <Time at={expiresAt} none="never" />
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        ) : (
          <Text size="sm" c="dimmed">
            No pack.
          </Text>
        )}
      </Stack>
    </Section>
  );
}
