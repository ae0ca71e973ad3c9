import type { CatalogPage, Listing } from './parse.js';
import { meets, type KnownList } from './places.js';

/** The newest listings of one phrase, as deep as the scan went. */
export interface Scan {
  phrase: string;
  /** In their order: newest first. */
  placed: Listing[];
  /** Shown out of order. */
  promoted: Listing[];
  /** It reached the end of the list. */
  whole: boolean;
  /** It reached the end, or listings of the scan before: nothing new is below. */
  complete: boolean;
  /** Pages it took. */
  pages: number;
  warnings: string[];
}

/** How deep a scan goes. */
export interface ScanDepth {
  /** Pages that are read even where everything on them is known. */
  atLeast: number;
  atMost: number;
}

/**
 * Reads page after page until the list before is met, or the list ends.
 * @param before the list as it was; absent where nothing is known of it yet
 */
export async function scan(
  phrase: string,
  before: KnownList | undefined,
  { atLeast, atMost }: ScanDepth,
  ask: (page: number, time: number | undefined) => Promise<CatalogPage>,
): Promise<Scan> {
  const placed = new Map<string, Listing>();
  const promoted = new Map<string, Listing>();
  const warnings: string[] = [];
  let time: number | undefined;
  for (let page = 1; ; page += 1) {
    const answer = await ask(page, time);
    time ??= answer.time;
    warnings.push(...answer.warnings);
    // The list moves while it is read: what slips onto the next page is there twice.
    for (const listing of answer.listings) {
      const group = listing.isPromoted ? promoted : placed;
      if (!group.has(listing.id)) group.set(listing.id, listing);
    }
    const met = !before || meets(before, [...placed.keys()]);
    if (!answer.isLast && page < atMost && (page < atLeast || !met)) continue;
    return {
      phrase,
      placed: [...placed.values()],
      promoted: [...promoted.values()].filter(({ id }) => !placed.has(id)),
      whole: answer.isEnd,
      complete: answer.isEnd || met,
      pages: page,
      warnings,
    };
  }
}
