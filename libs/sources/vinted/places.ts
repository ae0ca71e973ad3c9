/** What one scan of a list says of the list as it was before. */
export interface Places {
  /** Listings of the scan up to this index (exclusive) are new unless known: below it they may be old ones. */
  newUpTo: number;
  /** True where the listing was in the list before. */
  held(id: string): boolean;
  /** True where the scan shows that a listing of the list before, which it does not hold, is not in it any more. */
  hasPassed(id: string): boolean;
  /** The list as it is now, newest first: the scan, and what lies where it did not look. */
  order(dropped: ReadonlySet<string>): string[];
}

/**
 * So many listings of the list before, in their old order, prove that a scan has met it. Listings are bumped now and
 * then: only as many of them, in just this order, could be taken for it.
 */
const MEETING = 5;

/** A list as the scans so far know it. */
export interface KnownList {
  /** Ids of listings, newest first. */
  order: readonly string[];
  /** The last scan reached its end: there was nothing else. */
  whole: boolean;
}

/** True where a scan holds enough of the list before that nothing new can be below it. */
export function meets(known: KnownList, scanned: readonly string[]): boolean {
  const wanted = Math.min(MEETING, known.order.length);
  return wanted > 0 && inOldOrder(ranksOf(known.order), scanned).length >= wanted;
}

/**
 * Compares a scan with the list before. Listings never move down; one that moves up (it is bumped, or edited) must
 * not be taken for a sign of where the scan has got to, so only those that kept their order among each other count.
 * @param scanned ids of the listings that stand in their order, newest first
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
    // Of a scan that was cut short nobody knows where it has got to: what it lacks may all be below it.
    order: (dropped) => merged(known.order, scanned, new Set(complete ? kept : []), dropped),
  };
}

function ranksOf(order: readonly string[]): Map<string, number> {
  return new Map(order.map((id, rank) => [id, rank]));
}

/** The longest run of scanned listings that stand in their old order: the others have moved up. */
function inOldOrder(ranks: ReadonlyMap<string, number>, scanned: readonly string[]): string[] {
  const ids = scanned.filter((id) => ranks.has(id));
  const rankAt = (index: number | undefined) =>
    index === undefined ? -1 : (ranks.get(ids[index] ?? '') ?? -1);
  // Of the runs of each length so far, where the one with the lowest last rank ends.
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

/** What the scan lacks stays before the next listing that kept its place; below the last of these, at the end. */
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
