/** A due search, as far as the choice between a feed and a search of its own needs it. */
export interface PlannedSearch {
  searchKey: string;
  /** Requests that a search of its own takes. */
  requests: number;
  /** Length of the window to be looked at, in seconds; absent at a first poll, which the feed cannot serve. */
  windowSeconds?: number;
  /** `platform` searches trust the upstream's own matching: the feed cannot serve them either. */
  feedable: boolean;
}

/** Who is served by one read of the feed, and who by a search of its own. */
export interface FetchPlan {
  feed: string[];
  single: string[];
}

/**
 * Splits due searches so that upstream requests are fewest. A feed read costs the pages of the longest window it
 * serves, so the searches with the shortest windows are the first to join it.
 * @param pagesFor requests to read the feed over a window of so many seconds; absent: the source has no feed
 */
export function planFetch(
  due: readonly PlannedSearch[],
  pagesFor?: (windowSeconds: number) => number,
): FetchPlan {
  const candidates = pagesFor
    ? due
        .filter((search) => search.feedable && search.windowSeconds !== undefined)
        .sort((a, b) => (a.windowSeconds ?? 0) - (b.windowSeconds ?? 0))
    : [];
  let saved = 0;
  let best = { count: 0, saved: 0 };
  candidates.forEach((search, index) => {
    saved += search.requests;
    const gain = saved - (pagesFor?.(search.windowSeconds ?? 0) ?? 0);
    if (gain > best.saved) best = { count: index + 1, saved: gain };
  });
  const feed = candidates.slice(0, best.count).map((search) => search.searchKey);
  const inFeed = new Set(feed);
  return { feed, single: due.map((search) => search.searchKey).filter((key) => !inFeed.has(key)) };
}
