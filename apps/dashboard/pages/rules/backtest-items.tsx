import { Badge, Group, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { isolated, words } from '../../parts/format.js';
import { PostLink } from '../../parts/post-link.js';
import { SourceName } from '../../parts/source.js';
import { Loaded } from '../../parts/states.js';
import { DataTable, More } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** Each mention of a backtest with the rules that would have fired. */
export function BacktestItems({
  keywordId,
  backtestId,
  names,
}: {
  keywordId: string;
  backtestId: string;
  names: ReadonlyMap<string, string>;
}) {
  const query = useInfiniteQuery({
    queryKey: ['/v1/keywords', keywordId, 'backtest', backtestId],
    queryFn: ({ signal, pageParam }) =>
      api.get('/v1/keywords/{id}/backtest/{backtest}/items', {
        path: { id: keywordId, backtest: backtestId },
        query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor,
    staleTime: Infinity,
  });
  return (
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
  );
}
