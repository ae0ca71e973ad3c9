import { useCallback, useMemo, useState } from 'react';
import type { FeedFilters } from './feed-filters.js';
import type { FeedMention } from './feed-mention.js';
import { queryOf } from './first-page.js';
import { plainLines, storyLines } from './stories.js';
import { useLiveMentions } from './use-live-mentions.js';
import { useMentions } from './use-mentions.js';

const NO_STORIES: ReadonlySet<string> = new Set();

/**
 * Returns everything that the list of the feed shows.
 * @param address identifies the filters
 * @param maySpend false while the member has not agreed to the price of a search by meaning
 */
export function useFeed(filters: FeedFilters, address: string, maySpend: boolean) {
  // If `since` is empty, the period begins one window before the present time. This start is computed only once for
  // these filters, so that the API treats later requests as the same question.
  const query = useMemo(() => queryOf(filters, address), [address]);
  const isSemantic = query.mode === 'semantic';
  const read = useMentions(query, !isSemantic || maySpend);
  const [isAtTop, setAtTop] = useState(true);
  const [shown, setShown] = useState(0);
  const [openStories, setOpenStories] = useState(NO_STORIES);
  const { mentions, lastEventId, readAgain } = read;
  const known = useMemo(() => new Set(mentions.map(({ id }) => id)), [mentions]);
  const isLive = !isSemantic && filters.until === '' && read.data !== undefined;
  const live = useLiveMentions(query, isLive, { lastEventId, readAgain });
  const fresh = useMemo(() => live.fresh.filter(({ id }) => !known.has(id)), [live.fresh, known]);
  // If the member has scrolled down, new mentions wait for a click, so that the visible rows do not move.
  const visible = isAtTop ? fresh.length : Math.min(shown, fresh.length);
  if (visible !== shown) setShown(visible);
  const all = useMemo(
    () => [...fresh.slice(fresh.length - visible), ...mentions],
    [fresh, visible, mentions],
  );
  const lines = useMemo(
    () => (filters.stories ? storyLines(all, openStories) : plainLines(all)),
    [filters.stories, all, openStories],
  );
  const newIds = useMemo(() => new Set(fresh.map(({ id }) => id)), [fresh]);
  const toggleStory = useCallback(({ storyId }: FeedMention) => {
    if (storyId !== null) setOpenStories((open) => toggledIn(open, storyId));
  }, []);
  return {
    ...{ query, read, lines, newIds, openStories, toggleStory, setAtTop },
    liveState: live.state,
    waiting: fresh.length - visible,
    showWaiting: () => setShown(fresh.length),
  };
}

function toggledIn(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}
