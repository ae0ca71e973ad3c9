import { Badge, Table, Text } from '@mantine/core';
import type { Keyword } from '../../api/types.js';
import { duration } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { SourceName } from '../../parts/source.js';
import { DataTable } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** The searches of a keyword, and the outcome of their last checks. */
export function WatchTable({ keyword }: { keyword: Keyword }) {
  const labels = new Map(
    keyword.sources.flatMap(({ searches = [] }) => searches.map(({ id, label }) => [id, label] as const)),
  );
  return (
    <Section title="Searches">
      {keyword.watches.length === 0 ? (
        <Text size="sm" c="dimmed">
          No search runs.
        </Text>
      ) : (
        <DataTable
          label="Searches"
          head={['Source', 'Search', 'Every', 'Last check', 'Outcome']}
          minWidth={520}
          framed={false}
        >
          {keyword.watches.map(
            ({ id, source, searchId, refreshIntervalSeconds, lastCheckedAt, lastStatus, isActive }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <SourceName source={source} />
                </Table.Td>
                <Table.Td className="foreign">{labels.get(searchId ?? '') ?? 'all criteria'}</Table.Td>
                <Table.Td>{duration(refreshIntervalSeconds)}</Table.Td>
                <Table.Td>
                  <Time at={lastCheckedAt} none="not yet" />
                </Table.Td>
                <Table.Td>
                  {!isActive ? (
                    <Badge color="gray">Paused</Badge>
                  ) : lastStatus === 'failed' ? (
                    <Badge color="red">Failed</Badge>
                  ) : lastStatus ? (
                    <Badge color="teal">Completed</Badge>
                  ) : (
                    <Badge color="gray">Waiting</Badge>
                  )}
                </Table.Td>
              </Table.Tr>
            ),
          )}
        </DataTable>
      )}
    </Section>
  );
}
