/** What one scan of a list shows about the previous list. */
export interface Places {
  /** Listings of the scan up to this index (exclusive) are new unless known; below it they may be old ones. */
  newUpTo: number;
  /** True if the listing was in the previous list. */
  held(id: string): boolean;
  /** True if the scan shows that a listing of the previous list, which it does not contain, has left the list. */
  hasPassed(id: string): boolean;
  /** The current list, newest first: the scan, and the part that it did not read. */
  order(dropped: ReadonlySet<string>): string[];
}

/**
 * This many listings of the previous list, in their old order, prove that a scan has reached it. Listings are sometimes
 * bumped; only as many bumped ones, in exactly this order, could be mistaken for it.
 */
const MEETING = 5;

/** A list according to the scans so far. */
export interface KnownList {
  /** Ids of listings, newest first. */
  order: readonly string[];
  /** True if the last scan reached the end of the list. */
  whole: boolean;
}

/** True if a scan contains enough of the previous list, so that nothing new can be below it. */
export function meets(known: KnownList, scanned: readonly string[]): boolean {
  const wanted = Math.min(MEETING, known.order.length);
  return wanted > 0 && inOldOrder(ranksOf(known.order), scanned).length >= wanted;
}

/**
 * Compares a scan with the previous list. Listings never move down. One that moves up (bumped or edited) does not show
 * how far the scan has got, so only listings that kept their relative order count.
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
    held: (id) => ranks.has(id),
    hasPassed: (id) => whole || (complete && (ranks.get(id) ?? Infinity) < lastRank),
    // The depth of an incomplete scan is unknown: listings that it lacks may all be below it.
    order: (dropped) => merged(known.order, scanned, new Set(complete ? kept : []), dropped),
  };
}

function ranksOf(order: readonly string[]): Map<string, number> {
  return new Map(order.map((id, rank) => [id, rank]));
}

/** The longest run of scanned listings in their old order; the others have moved up. */
function inOldOrder(ranks: ReadonlyMap<string, number>, scanned: readonly string[]): string[] {
  const ids = scanned.filter((id) => ranks.has(id));
  const rankAt = (index: number | undefined) =>
    index === undefined ? -1 : (ranks.get(ids[index] ?? '') ?? -1);
  // For each length of run: the smallest last rank so far.
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
 * Listings that the scan lacks stay before the next listing that kept its place; below the last of these, at the end.
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
