import { Button, Skeleton, Stack } from '@mantine/core';
import { Coins } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Problem } from '../../parts/problem.js';
import { Empty } from '../../parts/states.js';
import classes from './feed.module.css';
import type { FeedFilters } from './feed-filters.js';
import type { useFeed } from './use-feed.js';

const NoMentions = lazy(() => import('./no-mentions.js'));

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
          free until the next full ten minutes of the clock, for example until 10:20.
        </Empty>
      ) : (
        <Suspense>
          <NoMentions {...{ filters, onReset }} />
        </Suspense>
      )}
    </div>
  );
}
