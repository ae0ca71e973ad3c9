import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearchParams } from 'react-router';
import { api } from '../../api/client.js';
import { minuteOf } from '../../parts/format.js';
import { Page } from '../../parts/page.js';
import { Loaded, LoadingRows } from '../../parts/states.js';
import { Checks } from './checks.js';
import { SearchTimeline } from './search-timeline.js';
import { beginsLater } from './shown-time.js';

const HOURS = { '24 hours': 24, '7 days': 168, '30 days': 720 } as const;
type Window = keyof typeof HOURS;

/** Shows which times each search of a keyword has read, which it has not read, and why. */
export function Component() {
  const { id = '' } = useParams();
  const [params, setParams] = useSearchParams();
  const window = (Object.keys(HOURS) as Window[]).find((one) => one === params.get('window')) ?? '24 hours';
  const keyword = useQuery({
    queryKey: ['/v1/keywords', id],
    queryFn: ({ signal }) => api.get('/v1/keywords/{id}', { path: { id }, signal }),
  });
  const coverage = useQuery({
    queryKey: ['/v1/keywords', id, 'coverage', window],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - HOURS[window] * 3_600_000).toISOString();
      const answer = await api.get('/v1/keywords/{id}/coverage', { path: { id }, query: { since }, signal });
      return { ...answer, isCut: beginsLater(answer, since) };
    },
    refetchInterval: 30_000,
  });
  return (
    <Page
      title="Coverage"
      back={{ to: `/keywords/${id}`, label: keyword.data?.name ?? 'Keyword' }}
      lead="Shows which times each search has read. If a covered time shows no mention, nothing matched in that time."
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Time"
          value={window}
          onChange={(value) => setParams({ window: value }, { replace: true })}
          data={Object.keys(HOURS)}
        />
      }
    >
      <Loaded query={coverage} loading={<LoadingRows rows={4} height={110} />}>
        {({ data, since, until, isCut }) => (
          <Stack>
            {isCut && (
              <Text size="sm">
                Only the time since {minuteOf(since)} is shown, because the status of the searches changed too
                often.
              </Text>
            )}
            {data.map((search) => (
              <SearchTimeline
                key={search.searchId}
                search={search}
                label={labelOf(keyword.data, search.searchId)}
                since={firstOf(data, since)}
                until={until}
                isCut={isCut}
              />
            ))}
          </Stack>
        )}
      </Loaded>
      <Checks keywordId={id} />
    </Page>
  );
}

/** Returns the start of the lines: the earliest start of a window. For a new keyword, it can be later than `since`. */
function firstOf(data: readonly { windows: { from: string }[] }[], since: string): string {
  const starts = data.flatMap(({ windows }) => windows.slice(0, 1).map(({ from }) => from)).sort();
  return starts[0] ?? since;
}

/** Returns the name that a member gave the search. */
function labelOf(
  keyword: { sources: { searches: { id: string; label: string | null }[] }[] } | undefined,
  searchId: string,
): string | undefined {
  const searches = keyword?.sources.flatMap((source) => source.searches) ?? [];
  return searches.find(({ id }) => id === searchId)?.label ?? undefined;
}
