import type { CatalogPage, Listing } from './parse.js';
import { meets, type KnownList } from './places.js';

/** The newest listings of one phrase, down to the depth of the scan. */
export interface Scan {
  phrase: string;
  /** Listings in their order, newest first. */
  placed: Listing[];
  /** Listings that are shown out of order. */
  promoted: Listing[];
  /** True if it reached the end of the list. */
  whole: boolean;
  /** True if it reached the end, or listings of the previous scan: nothing new is below. */
  complete: boolean;
  /** Number of pages it read. */
  pages: number;
  warnings: string[];
}

/** The depth of a scan. */
export interface ScanDepth {
  /** Minimum number of pages, even if everything on them is known. */
  atLeast: number;
  atMost: number;
}

/**
 * Reads pages until it meets the previous list, or the list ends.
 * @param before the previous list; absent if it is unknown
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
    // The list may move during the read, so a listing may occur on two pages.
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
