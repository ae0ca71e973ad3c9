import type { CatalogPage, Listing } from './parse.js';
import { reachesKnownList, type KnownList } from './places.js';

/** The newest listings of one phrase, as far as the scan has read. */
export interface Scan {
  phrase: string;
  /** Listings in their order, newest first. */
  placed: Listing[];
  /** Listings that are shown outside the normal order. */
  promoted: Listing[];
  /** True if the scan reached the end of the list. */
  whole: boolean;
  /**
   * True if the scan reached the end or the previous list, so that there are no new listings below. Always true without
   * a previous list.
   */
  complete: boolean;
  /** Number of pages that were read. */
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
 * Reads `atLeast` pages, and then further pages until the scan reaches the previous list, but at most `atMost` pages in
 * total. The last page of the list always ends the scan.
 * @param before the previous list; absent if it is unknown. Then the scan stops after `atLeast` pages
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
    // The list can move during the read, so a listing can occur on two pages.
    for (const listing of answer.listings) {
      const group = listing.isPromoted ? promoted : placed;
      if (!group.has(listing.id)) group.set(listing.id, listing);
    }
    const met = !before || reachesKnownList(before, [...placed.keys()]);
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
