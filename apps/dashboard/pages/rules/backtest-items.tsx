import { Badge, Group, SegmentedControl, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { usePages } from '../../api/use-pages.js';
import { isolated, words } from '../../parts/format.js';
import { PostLink } from '../../parts/post-link.js';
import { SourceName } from '../../parts/source.js';
import { Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/**
 * Shows the mentions of a backtest with the rules that would have fired. At first, shows only mentions for which a
 * tested rule would have fired, or for which a rule fired that would not fire now. If there are none, shows all
 * mentions.
 */
export function BacktestItems({
  keywordId,
  backtestId,
  anyFired,
  names,
}: {
  keywordId: string;
  backtestId: string;
  /**
   * True if the backtest contains a mention for which a tested rule would have fired, or for which a rule fired that
   * would not fire now.
   */
  anyFired: boolean;
  names: ReadonlyMap<string, string>;
}) {
  const [shown, setShown] = useState(anyFired ? 'fired' : 'all');
  const path = { id: keywordId, backtest: backtestId };
  const query = usePages(
    ['/v1/keywords', keywordId, 'backtest', backtestId, shown],
    async (page, signal) => {
      const read = (cursor: { cursor?: string }) =>
        api.get('/v1/keywords/{id}/backtest/{backtest}/items', {
          ...{ path, query: { fired: shown === 'fired', ...cursor }, signal },
        });
      let found = await read(page);
      // Mentions for which a rule fires can be rare, so a page can be empty although later pages contain mentions.
      while (found.data.length === 0 && found.nextCursor) found = await read({ cursor: found.nextCursor });
      return found;
    },
    { staleTime: Infinity },
  );
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Mentions to show"
        data={[
          { value: 'fired', label: 'Where a rule fired, or no longer fires' },
          { value: 'all', label: 'All mentions' },
        ]}
        value={shown}
        onChange={setShown}
        style={{ alignSelf: 'flex-start' }}
      />
      <Loaded query={query}>
        {(rows) => (
          <>
            <DataTable
              framed={false}
              label="Mentions of the backtest"
              head={['Time', 'Source', 'Mention', 'Rules', 'Difference']}
              minWidth={760}
            >
              {rows.map((item) => (
                <Table.Tr key={item.mentionId}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    <Time at={item.occurredAt} />
                  </Table.Td>
                  <Table.Td>
                    <SourceName source={item.source} />
                  </Table.Td>
                  <Table.Td maw={320}>
                    <Text size="sm" truncate className="foreign" component="div">
                      <PostLink url={item.url}>{item.title ?? item.url}</PostLink>
                    </Text>
                    {item.dropped && (
                      <Text size="xs" c="dimmed" className="foreign">
                        Dropped: {words(item.dropped.reason).toLowerCase()}, {item.dropped.rule}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Group gap={4}>
                      {item.rules
                        .filter(({ fired }) => fired)
                        .map(({ ruleId, name }) => (
                          <Badge key={ruleId} className="foreign">
                            {name}
                          </Badge>
                        ))}
                    </Group>
                  </Table.Td>
                  <Table.Td className="foreign">
                    {[
                      ...item.added.map((id) => `+ ${isolated(names.get(id) ?? id)}`),
                      ...item.removed.map((id) => `− ${isolated(names.get(id) ?? 'a removed rule')}`),
                    ].join(', ')}
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
            <More query={query} />
          </>
        )}
      </Loaded>
    </>
  );
}
