import { Group, Progress, SegmentedControl, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CreditCard } from 'lucide-react';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import { useKeywordName } from '../../api/keywords.js';
import type { Source } from '../../api/types.js';
import { count, percent, words } from '../../parts/format.js';
import { SourceName } from '../../parts/source.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable } from '../../parts/table.js';
import { useAddressParam } from '../../parts/use-address-param.js';

const GROUPS = ['source', 'keyword', 'operation'] as const;
type Group = (typeof GROUPS)[number];

/** The credits that were used in the last 30 days. */
export function Usage() {
  const [by, choose] = useAddressParam('by');
  const group = GROUPS.find((one) => one === by) ?? 'source';
  const query = useQuery({
    queryKey: ['/v1/credits/usage', group],
    queryFn: ({ signal }) => api.get('/v1/credits/usage', { query: { group }, signal }),
  });
  return (
    <Section
      title="Last 30 days"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Split by"
          value={group}
          onChange={choose}
          data={GROUPS.map((value) => ({ value, label: `By ${value}` }))}
        />
      }
    >
      <Loaded query={query}>{({ data }) => <Shares group={group} rows={sumsOf(data)} />}</Loaded>
    </Section>
  );
}

function Shares({
  group,
  rows,
}: {
  group: Group;
  rows: readonly { value: string | null; credits: number }[];
}) {
  const nameOf = useKeywordName();
  const total = rows.reduce((sum, { credits }) => sum + credits, 0);
  if (total === 0)
    return (
      <Empty icon={CreditCard} title="Nothing was charged">
        Each check of a source costs credits. The used credits appear here after the first check of a keyword.
      </Empty>
    );
  return (
    <DataTable
      framed={false}
      label={`Credits by ${group}`}
      head={[words(group), 'Credits', 'Share']}
      minWidth={420}
    >
      {rows.map(({ value, credits }) => (
        <Table.Tr key={value ?? ''}>
          <Table.Td>
            <Name group={group} value={value} nameOf={nameOf} />
          </Table.Td>
          <Table.Td>{count(credits)}</Table.Td>
          <Table.Td w="45%">
            <Group gap="sm" wrap="nowrap">
              <Progress value={(100 * credits) / total} flex={1} aria-hidden />
              <Text size="sm" w={44} ta="right">
                {percent(credits / total)}
              </Text>
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function Name({
  group,
  value,
  nameOf,
}: {
  group: Group;
  value: string | null;
  nameOf: (id: string) => string;
}) {
  if (value === null)
    return (
      <Text size="sm" c="dimmed">
        {group === 'keyword' ? 'Without a keyword' : 'Without a source'}
      </Text>
    );
  if (group === 'source') return <SourceName source={value as Source} />;
  if (group === 'operation') return <Text size="sm">{words(value)}</Text>;
  return (
    <Text size="sm" className="foreign" component={Link} to={`/keywords/${value}`}>
      {nameOf(value)}
    </Text>
  );
}

/** Adds up the credits of all days for each value. The value with the most credits comes first. */
function sumsOf(rows: readonly { group: string | null; credits: number }[]) {
  const sums = new Map<string | null, number>();
  for (const { group, credits } of rows) sums.set(group, (sums.get(group) ?? 0) + credits);
  return [...sums].map(([value, credits]) => ({ value, credits })).sort((a, b) => b.credits - a.credits);
}
