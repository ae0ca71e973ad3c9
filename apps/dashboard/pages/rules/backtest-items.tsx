import { Badge, Group, SegmentedControl, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RowOf } from '../../../../clients/typescript/src/index.js';
import { api } from '../../api/client.js';
import { isolated, words } from '../../parts/format.js';
import { PostLink } from '../../parts/post-link.js';
import { SourceName } from '../../parts/source.js';
import { Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

type Item = RowOf<'/v1/keywords/{id}/backtest/{backtest}/items'>;

const PAGE = 50;
/** Mentions for which a rule fires can be rare: one click searches through this many pages of this size for them. */
const SEARCHED_PAGES = 10;
const SEARCHED_PAGE = 200;

const hasFired = ({ rules, removed }: Item) => rules.some(({ fired }) => fired) || removed.length > 0;

/** The mentions of a backtest with the rules that would have fired; at first only those for which one did. */
export function BacktestItems({
  keywordId,
  backtestId,
  anyFired,
  names,
}: {
  keywordId: string;
  backtestId: string;
  /** Whether any rule fired for any of them. */
  anyFired: boolean;
  names: ReadonlyMap<string, string>;
}) {
  const [shown, setShown] = useState(anyFired ? 'fired' : 'all');
  const read = (limit: number, cursor: string | undefined, signal: AbortSignal) =>
    api.get('/v1/keywords/{id}/backtest/{backtest}/items', {
      path: { id: keywordId, backtest: backtestId },
      query: { limit, ...(cursor ? { cursor } : {}) },
      signal,
    });
  const query = useInfiniteQuery({
    queryKey: ['/v1/keywords', keywordId, 'backtest', backtestId, shown],
    queryFn: async ({ signal, pageParam }) => {
      if (shown === 'all') return read(PAGE, pageParam, signal);
      const data: Item[] = [];
      let cursor = pageParam;
      for (let page = 0; page < SEARCHED_PAGES && data.length < PAGE; page++) {
        const found = await read(SEARCHED_PAGE, cursor, signal);
        data.push(...found.data.filter(hasFired));
        cursor = found.nextCursor;
        if (cursor === undefined) break;
      }
      return { data, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    staleTime: Infinity,
  });
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
        {({ pages }) => (
          <>
            <DataTable
              framed={false}
              label="Mentions of the backtest"
              head={['Time', 'Source', 'Mention', 'Rules', 'Difference']}
              minWidth={760}
            >
              {pages
                .flatMap(({ data }) => data)
                .map((item) => (
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
