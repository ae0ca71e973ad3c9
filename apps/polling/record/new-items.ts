import type { SearchMatch } from '#matching';
import type { Outage, SourceItem } from '#sources';
import type { DueWatch } from '../due/due-work.js';

/** An item from the result of a read. The item matches a search. */
export interface MatchedSourceItem {
  item: SourceItem;
  matches: SearchMatch['matches'];
}

/** Maximum number of items that one check of one watch keeps: the newest ones. */
export const MAX_KEPT = 1_000;
/** Publishers set the dates of articles. An article is new if its date is at most this long before the baseline. */
const BACKDATED_MS = 24 * 3_600_000;
const BACKDATED_SOURCES = new Set(['rss']);

/**
 * An item of a check. `backfilled`: the item was published before the watch began, so it is kept as a mention, but not
 * sent.
 */
export interface KeptItem extends MatchedSourceItem {
  backfilled: boolean;
}

/** The items that a watch has not seen before, separated by what the check does with each. */
export interface SelectedItems {
  /** In the order of the result. */
  kept: KeptItem[];
  /**
   * The ids of items that count as seen and are never reported: old items that are not backfilled, and items beyond
   * `MAX_KEPT`.
   */
  remembered: string[];
  /** The number of remembered items that are beyond `MAX_KEPT`. */
  overflow: number;
}

/** Facts of a read, in addition to its items. */
export interface ReadFacts {
  outages?: ReadonlyMap<string, Outage> | undefined;
  /** See `Answer`: how far the upstream's clock is ahead of the clock that dates the reads. */
  clockAheadMs: number;
}

/**
 * Separates new items from items that were published before the watch began. A watch begins at its baseline: the time
 * of its first successful check. All items of this check are old. In later checks, an item without a date is new,
 * except in the first result of a feed that had always failed. If the watch has `backfill`, old items are kept too,
 * except items with `happenedAt` in later checks.
 * @param fresh items that the watch has not seen before, newest first
 */
export function selectNewItems(
  fresh: readonly MatchedSourceItem[],
  watch: DueWatch,
  facts: ReadFacts,
): SelectedItems {
  const kept: SelectedItems['kept'] = [];
  const remembered: string[] = [];
  let overflow = 0;
  const { baselineAt } = watch;
  const isBaseline = baselineAt === undefined;
  for (const one of fresh) {
    const isOld = isBaseline || isBeforeWatch(one.item, baselineAt, watch, facts);
    const isKept = !isOld || (watch.backfill && (isBaseline || !one.item.happenedAt));
    if (!isKept) remembered.push(one.item.itemId);
    else if (kept.length < MAX_KEPT) kept.push({ ...one, backfilled: isOld });
    else {
      remembered.push(one.item.itemId);
      overflow += 1;
    }
  }
  return { kept, remembered, overflow };
}

function isBeforeWatch(
  item: SourceItem,
  baselineAt: number,
  watch: DueWatch,
  { outages, clockAheadMs }: ReadFacts,
): boolean {
  // Our own clock sets `happenedAt`, so it is compared without a tolerance for the upstream's clock.
  if (item.happenedAt) return Date.parse(item.happenedAt) <= baselineAt;
  if (isOfArchive(item, watch, baselineAt, outages?.get(item.itemId))) return true;
  if (!item.publishedAt) return false;
  if (BACKDATED_SOURCES.has(item.source)) return Date.parse(item.publishedAt) < baselineAt - BACKDATED_MS;
  return latestOf(item.publishedAt) < baselineAt + clockAheadMs;
}

/** Returns the last millisecond that a date can mean: most platforms state whole seconds. */
function latestOf(publishedAt: string): number {
  const ms = Date.parse(publishedAt);
  return ms % 1000 === 0 ? ms + 999 : ms;
}

/**
 * Returns whether an item was in a feed before the feed's first successful read. If the feed failed at every
 * earlier read of the watch, its first successful result shows what the feed already contained, so these
 * items are old. But items that are dated after the baseline of the watch were published while the feed
 * failed, and are new.
 */
function isOfArchive(
  item: SourceItem,
  { coveredUntil }: DueWatch,
  baselineAt: number,
  outage: Outage | undefined,
): boolean {
  if (!outage || coveredUntil === undefined) return false;
  const neverAnswered = outage.from.getTime() <= baselineAt && coveredUntil < outage.until.getTime();
  return neverAnswered && !(item.publishedAt && Date.parse(item.publishedAt) > baselineAt);
}
