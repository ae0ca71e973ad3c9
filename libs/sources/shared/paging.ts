import type { Fetched, SourceItem } from '../source.js';

/**
 * Maximum number of pages of one read of a feed: polling allows no more. If a source also has a search and its feed
 * needs more pages, `pagesFor` returns Infinity, so that polling searches: a shorter read of the feed would have a gap.
 */
export const FEED_PAGES = 10;

/** One page of an upstream's response. */
export interface Page {
  /** In the order of the upstream; usually newest first. */
  items: SourceItem[];
  warnings: string[];
  /** Reads the next page; absent on the last page. */
  next?: (() => Promise<Page>) | undefined;
}

/** The limits of paging. */
export interface PagingBounds {
  /** True if the read can end at a page with this item. It is false if seen items must not end the read. */
  known(itemId: string): boolean;
  /** Absent at a first check, which reads one page. */
  since: Date | undefined;
  /**
   * Paging stops at a page with an item from this time or before (ISO 8601). Absent at a first check, and if the
   * request or `next` already limits the time, so that no item's time needs to end the read.
   */
  until?: string | undefined;
  /** Maximum number of pages. */
  pageCap: number;
}

/**
 * Reads pages until one contains a known item or an item from `until` or before, or is the last page. If the cap is
 * reached earlier, the result has a gap. Without `since`, reads only the first page, and the result has no gap.
 */
export async function readPages(first: Page, bounds: PagingBounds): Promise<Fetched> {
  const items: SourceItem[] = [];
  const warnings: string[] = [];
  let page = first;
  for (let pages = 1; ; pages += 1) {
    items.push(...page.items);
    warnings.push(...page.warnings);
    const { next } = page;
    const done = !next || !bounds.since || reachesBack(page.items, bounds);
    if (done || pages >= bounds.pageCap) return merged([{ items, gap: !done, warnings }]);
    page = await next();
  }
}

/** Merges items, gaps and warnings of several reads: every item once, newest first, items without a date last. */
export function merged(reads: readonly Fetched[]): Fetched {
  const items = new Map<string, SourceItem>();
  for (const read of reads) {
    for (const item of read.items) if (!items.has(item.itemId)) items.set(item.itemId, item);
  }
  return {
    items: [...items.values()].sort(newestFirst),
    gap: reads.some((read) => read.gap),
    warnings: [...new Set(reads.flatMap((read) => read.warnings))],
  };
}

function reachesBack(items: readonly SourceItem[], { known, until }: PagingBounds): boolean {
  return items.some(
    ({ itemId, publishedAt }) =>
      known(itemId) || (until !== undefined && publishedAt !== undefined && publishedAt <= until),
  );
}

function newestFirst(a: SourceItem, b: SourceItem): number {
  return (b.publishedAt ?? '').localeCompare(a.publishedAt ?? '');
}
