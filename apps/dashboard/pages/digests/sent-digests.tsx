import { Badge, Table, Text } from '@mantine/core';
import { MailOpen } from 'lucide-react';
import { useState } from 'react';
import { targetName, useChannels } from '../../api/channels.js';
import { api } from '../../api/client.js';
import { useKeywordNames } from '../../api/keywords.js';
import { usePages } from '../../api/use-pages.js';
import { count, words } from '../../parts/format.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** Events and their deliveries are kept for 90 days. */
const KEPT_MS = 90 * 24 * 3_600_000;

/** The deliveries of digests with their states, newest first. Deliveries that failed are included. */
export function SentDigests() {
  const names = useKeywordNames();
  const channels = useChannels();
  const [since] = useState(() => new Date(Date.now() - KEPT_MS).toISOString());
  const query = usePages(['/v1/deliveries', 'digests'], (page, signal) =>
    api.get('/v1/deliveries', { query: { target: 'digest', since, ...page }, signal }),
  );
  return (
    <Loaded query={query}>
      {(rows) => {
        return (
          <>
            {rows.length === 0 ? (
              <Empty icon={MailOpen} title="No digest yet">
                A digest is sent at its time if it has at least one mention.
              </Empty>
            ) : (
              <DataTable label="Digests" head={['Sent', 'To', 'Keyword', 'Attempts', 'State']}>
                {rows.map((row) => (
                  <Table.Tr key={`${row.eventId} ${row.endpoint}`}>
                    <Table.Td>
                      <Time at={row.attempts.at(-1)?.at} />
                    </Table.Td>
                    <Table.Td className="foreign">
                      <Text size="sm">{targetName(row.endpoint, channels)}</Text>
                    </Table.Td>
                    <Table.Td className="foreign">
                      {(row.keywordId && names.get(row.keywordId)) ?? '–'}
                    </Table.Td>
                    <Table.Td>{count(row.attempts.length)}</Table.Td>
                    <Table.Td>
                      <Badge
                        color={
                          row.state === 'delivered' ? 'teal' : row.state === 'retrying' ? 'yellow' : 'red'
                        }
                      >
                        {words(row.state)}
                      </Badge>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
            )}
            <More query={query} />
          </>
        );
      }}
    </Loaded>
  );
}
