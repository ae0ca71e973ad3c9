/** What one scan of a list shows about the previous list. */
export interface Places {
  /** Unknown listings of the scan before this index are new. Unknown listings from this index on can be old. */
  newUpTo: number;
  /** True if the listing was in the previous list. */
  contained(id: string): boolean;
  /** For a listing of the previous list that the scan does not contain: true if it must have left the list. */
  hasPassed(id: string): boolean;
  /**
   * Returns the current list, newest first: the listings of the scan, and those listings of the previous list that are
   * neither in the scan nor in `dropped`.
   */
  order(dropped: ReadonlySet<string>): string[];
}

/**
 * If a scan contains this many listings of the previous list in their old order, the scan has reached the previous
 * list. Fewer listings are not enough, because sellers sometimes move old listings to the top.
 */
const MIN_KEPT_ORDER = 5;

/** A list according to the scans so far. */
export interface KnownList {
  /** Ids of listings, newest first. */
  order: readonly string[];
  /** True if the last scan reached the end of the list. */
  whole: boolean;
}

/**
 * True if a scan has reached the previous list, so that there are no new listings below. If the previous list has fewer
 * than `MIN_KEPT_ORDER` listings, this is never true: all of them can be at the top, with new listings below.
 */
export function reachesKnownList(known: KnownList, scanned: readonly string[]): boolean {
  return inOldOrder(ranksOf(known.order), scanned).length >= MIN_KEPT_ORDER;
}

/**
 * Compares a scan with the previous list. Listings can move up (a seller moves or edits them), but never down. A
 * listing that has moved up does not show how far the scan has read, so only listings that kept their relative order
 * count.
 * @param scanned ids of the listings in their order, newest first
 */
export function compare(
  known: KnownList,
  scanned: readonly string[],
  { whole, complete }: { whole: boolean; complete: boolean },
): Places {
  const ranks = ranksOf(known.order);
  const kept = inOldOrder(ranks, scanned);
  const last = kept.at(-1);
  const lastRank = last === undefined ? -1 : (ranks.get(last) ?? -1);
  return {
    newUpTo: known.whole || last === undefined ? Infinity : scanned.indexOf(last),
    contained: (id) => ranks.has(id),
    hasPassed: (id) => whole || (complete && (ranks.get(id) ?? Infinity) < lastRank),
    // An incomplete scan has not reached the previous list, so all listings that the scan does not contain can be below
    // its end.
    order: (dropped) => merged(known.order, scanned, new Set(complete ? kept : []), dropped),
  };
}

function ranksOf(order: readonly string[]): Map<string, number> {
  return new Map(order.map((id, rank) => [id, rank]));
}

/** Returns the longest sequence of scanned listings in their old order. The other listings have moved up. */
function inOldOrder(ranks: ReadonlyMap<string, number>, scanned: readonly string[]): string[] {
  const ids = scanned.filter((id) => ranks.has(id));
  const rankAt = (index: number | undefined) =>
    index === undefined ? -1 : (ranks.get(ids[index] ?? '') ?? -1);
  // For each length of a sequence: the index of the listing that ends it with the lowest rank so far.
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  ids.forEach((_, index) => {
    let length = 0;
    for (let high = ends.length; length < high;) {
      const middle = (length + high) >> 1;
      if (rankAt(ends[middle]) < rankAt(index)) length = middle + 1;
      else high = middle;
    }
    before[index] = ends[length - 1];
    ends[length] = index;
  });
  const run: string[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index]) run.push(ids[index] ?? '');
  return run.reverse();
}

/**
 * Adds the listings that the scan does not contain: each before the next listing that kept its order, or at the end if
 * there is none.
 */
function merged(
  order: readonly string[],
  scanned: readonly string[],
  kept: ReadonlySet<string>,
  dropped: ReadonlySet<string>,
): string[] {
  const here = new Set(scanned);
  const lacking = new Map<string, string[]>();
  let open: string[] = [];
  for (const id of order) {
    if (kept.has(id)) {
      lacking.set(id, open);
      open = [];
    } else if (!here.has(id) && !dropped.has(id)) open.push(id);
  }
  return [...scanned.flatMap((id) => [...(lacking.get(id) ?? []), id]), ...open];
}
