import { Table } from '@mantine/core';
import { FileBarChart } from 'lucide-react';
import { api } from '../../api/client.js';
import { useKeywordName } from '../../api/keywords.js';
import { usePages } from '../../api/use-pages.js';
import { dayOf, hourOfDay } from '../../parts/format.js';
import { Empty, Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** The weekly reports, each with its own page. */
export function Reports() {
  const nameOf = useKeywordName();
  const query = usePages(['/v1/reports'], (page, signal) => api.get('/v1/reports', { query: page, signal }));
  return (
    <Loaded query={query}>
      {(rows) => {
        if (rows.length === 0)
          return (
            <Empty icon={FileBarChart} title="No reports yet">
              Every Monday at {hourOfDay(9)}, Earshot makes a report for each keyword that has new mentions
              and a channel for weekly reports.
            </Empty>
          );
        return (
          <>
            <DataTable label="Weekly reports" head={['Period', 'Keyword', 'Made', '']} minWidth={520}>
              {rows.map((row) => (
                <Table.Tr key={row.id}>
                  <Table.Td>
                    {dayOf(row.period.from)} – {dayOf(row.period.to)}
                  </Table.Td>
                  <Table.Td className="foreign">{nameOf(row.keywordId)}</Table.Td>
                  <Table.Td>
                    <Time at={row.createdAt} />
                  </Table.Td>
                  <Table.Td>
                    {/* Only the path is used: this installation serves the page, also if PUBLIC_URL is another address. */}
                    <a href={new URL(row.url, location.origin).pathname} target="_blank" rel="noopener">
                      Open the report
                    </a>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
            <More query={query} />
          </>
        );
      }}
    </Loaded>
  );
}
