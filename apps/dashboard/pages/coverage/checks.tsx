import { Badge, Table } from '@mantine/core';
import { Radar } from 'lucide-react';
import { api } from '../../api/client.js';
import type { Source } from '../../api/types.js';
import { usePages } from '../../api/use-pages.js';
import { count, words } from '../../parts/format.js';
import { SourceName } from '../../parts/source.js';
import { Section } from '../../parts/section.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** The activity of a keyword in the last seven days: checks, deliveries and its own events, newest first. */
export function Checks({ keywordId }: { keywordId: string }) {
  const path = { id: keywordId };
  const query = usePages(['/v1/keywords', keywordId, 'activity'], async (page, signal) => {
    const options = { path, query: { limit: 50, ...page }, signal };
    const { activity, nextCursor } = await api.get('/v1/keywords/{id}/activity', options);
    return { data: activity, nextCursor };
  });
  return (
    <Section
      title="Activity"
      lead="The checks, the deliveries and the events of the keyword itself in the last seven days."
    >
      <Loaded query={query}>
        {(rows) => {
          if (rows.length === 0)
            return (
              <Empty icon={Radar} title="Nothing happened in the last seven days">
                The first check of a new keyword begins within seconds.
              </Empty>
            );
          return (
            <>
              <DataTable
                framed={false}
                label="Activity"
                head={['Time', 'Source', 'What', 'New', 'Credits', 'Message']}
                minWidth={760}
              >
                {rows.map((row) => (
                  <Table.Tr key={row.id}>
                    <Table.Td style={{ whiteSpace: 'nowrap' }}>
                      <Time at={row.occurredAt} />
                    </Table.Td>
                    <Table.Td>{row.source ? <SourceName source={row.source as Source} /> : '–'}</Table.Td>
                    <Table.Td>
                      <Badge color={row.type.endsWith('failed') ? 'red' : 'gray'}>
                        {words(row.type.replace('.', ' '))}
                      </Badge>
                    </Table.Td>
                    <Table.Td>{row.eventsEmitted === undefined ? '–' : count(row.eventsEmitted)}</Table.Td>
                    <Table.Td>{row.creditsCharged === undefined ? '–' : count(row.creditsCharged)}</Table.Td>
                    <Table.Td className="foreign">{row.message}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <More query={query} />
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
