import { Anchor, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../../api/client.js';
import type { Source } from '../../api/types.js';
import { count } from '../../parts/format.js';
import { Section } from '../../parts/section.js';
import { sourceName } from '../../parts/source.js';
import { Loaded, LoadingRows } from '../../parts/states.js';

type By = 'author' | 'community' | 'term';

const TITLES: Readonly<Record<By, string>> = {
  author: 'Top authors',
  community: 'Top communities',
  term: 'Terms',
};

/** The most frequent authors, communities and terms. */
export function TopLists({ keywordId, days }: { keywordId: string; days: number }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
      {(['author', 'community', 'term'] as const).map((by) => (
        <TopList key={by} by={by} keywordId={keywordId} days={days} />
      ))}
    </SimpleGrid>
  );
}

function TopList({ by, keywordId, days }: { by: By; keywordId: string; days: number }) {
  const top = useQuery({
    queryKey: ['/v1/mentions/top', by, keywordId, days],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - days * 86_400_000).toISOString();
      const query = { by, keyword: [keywordId], since, limit: by === 'term' ? 100 : 8 };
      const { data } = await api.get('/v1/mentions/top', { query, signal });
      return by === 'term' ? sumByTerm(data) : data;
    },
  });
  return (
    <Section title={TITLES[by]}>
      <Loaded query={top} loading={<LoadingRows rows={5} height={28} />}>
        {(data) => {
          const max = data[0]?.count ?? 1;
          if (data.length === 0)
            return (
              <Text c="dimmed" size="sm">
                None in this period.
              </Text>
            );
          return (
            <Stack gap="sm">
              {data.map(({ value, source, count: n }) => (
                <div key={`${value}|${source}`}>
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text size="sm" truncate className="foreign">
                      {by === 'author' ? (
                        <Anchor
                          component={Link}
                          to={`/feed?keyword=${keywordId}&window=90d&author=${encodeURIComponent(value)}`}
                        >
                          <bdi>{value}</bdi>
                        </Anchor>
                      ) : (
                        <bdi>{value}</bdi>
                      )}
                      {source && (
                        <Text span size="xs" c="dimmed">
                          {' '}
                          {sourceName(source)}
                        </Text>
                      )}
                    </Text>
                    <Text size="sm" className="tabular">
                      {count(n)}
                    </Text>
                  </Group>
                  <Progress value={(100 * n) / max} size={4} aria-hidden />
                </div>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

interface Row {
  value: string;
  source: Source | null;
  count: number;
}

/** Adds up the counts of each term over the sources in the rows. The API returns only the most frequent rows. */
function sumByTerm(rows: readonly Row[]): Row[] {
  const counts = new Map<string, number>();
  for (const { value, count: n } of rows) counts.set(value, (counts.get(value) ?? 0) + n);
  return [...counts]
    .map(([value, n]) => ({ value, source: null, count: n }))
    .sort((a, b) => b.count - a.count)
    .slice(0, 8);
}
