/** What the plan must know about a due search. The plan decides whether the feed serves the search, or a separate read. */
export interface PlannedSearch {
  searchKey: string;
  /** Number of requests of a separate search. */
  requests: number;
  /**
   * Length of the period that the search must read, in seconds. Absent for a first check, which the feed cannot serve.
   */
  windowSeconds?: number;
  /**
   * False if the feed cannot serve the search. Only the upstream can match if the match mode is `platform`. The connector
   * can also exclude a search from the feed (`feed.serves`).
   */
  feedable: boolean;
}

/** `feed`: the searches that one read of the feed serves. `single`: the searches that are read separately. */
export interface FetchPlan {
  feed: string[];
  single: string[];
}

/**
 * Splits due searches so that the number of upstream requests is smallest. The longest window decides how many pages of
 * the feed must be read, so searches join the feed in the order of their windows, the shortest first.
 * @param pagesFor number of requests to read the feed over a window of this many seconds; absent if the source has no
 *   feed
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
