import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { Coins, Radar, SearchX } from 'lucide-react';
import { Link } from 'react-router';
import { Problem } from '../../parts/problem.js';
import { Empty } from '../../parts/states.js';
import classes from './feed.module.css';
import { isNarrowed, type FeedFilters } from './feed-filters.js';
import type { useFeed } from './use-feed.js';

interface Props {
  filters: FeedFilters;
  feed: ReturnType<typeof useFeed>;
  onAgree: () => void;
  onReset: (changes: Partial<FeedFilters>) => void;
}

/** Shows why the feed has no rows: loading, an error, a price to agree to, or no mentions. */
export function FeedState({ filters, feed, onAgree, onReset }: Props) {
  const { read } = feed;
  if (read.isLoading)
    return (
      <Stack gap={1} flex={1} aria-busy="true" role="status" aria-label="Loading">
        {Array.from({ length: 7 }, (_, index) => (
          <Skeleton key={index} height={121} radius={0} />
        ))}
      </Stack>
    );
  return (
    <div className={classes.state} style={{ flex: 1 }}>
      {read.error ? (
        <Problem error={read.error} title="The mentions cannot be shown" retry={() => void read.refetch()} />
      ) : read.isPending ? (
        <Empty
          icon={Coins}
          title="A search by meaning costs 2 credits"
          action={<Button onClick={onAgree}>Search for 2 credits</Button>}
        >
          The search sorts your mentions by how close their meaning is to “{filters.q}”. The same question is
          free for ten minutes.
        </Empty>
      ) : isNarrowed(filters) ? (
        <Empty
          icon={SearchX}
          title="No mention fits these filters"
          action={
            <Button variant="default" onClick={() => onReset(NO_FILTERS)}>
              Remove the filters
            </Button>
          }
        >
          Look further back, or remove a filter. Dropped and hidden mentions appear only if the filters
          include them.
        </Empty>
      ) : (
        <Empty
          icon={Radar}
          title="No mentions in this period"
          action={
            <Group justify="center">
              <Button component={Link} to="/start">
                Watch a brand
              </Button>
              <Button component={Link} to="/keywords" variant="default">
                See your keywords
              </Button>
            </Group>
          }
        >
          New mentions appear here as soon as they are found. For older mentions, choose a longer period.
        </Empty>
      )}
    </div>
  );
}

/** Values that remove all filters except the period. */
export const NO_FILTERS = {
  q: '',
  mode: 'text',
  keyword: [],
  source: [],
  sentiment: [],
  intent: [],
  label: [],
  lang: [],
  author: [],
  minRelevance: 0,
  dropped: false,
} satisfies Partial<FeedFilters>;
