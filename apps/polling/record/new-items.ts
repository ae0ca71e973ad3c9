import type { SearchMatch } from '#matching';
import type { Outage, SourceItem } from '#sources';
import type { DueWatch } from '../due/due-work.js';

/** An item of the result that matches a search. */
export interface MatchedSourceItem {
  item: SourceItem;
  matches: SearchMatch['matches'];
}

/** Maximum number of items that one check of one watch keeps: the newest ones. */
export const MAX_KEPT = 1_000;
/** Publishers set the dates of articles: an article can appear this long after its own date and still be new. */
const BACKDATED_MS = 24 * 3_600_000;
const BACKDATED_SOURCES = new Set(['rss']);

/** An item of a check. `backfilled`: published before the watch began; it is kept as a mention, but not sent. */
export interface KeptItem extends MatchedSourceItem {
  backfilled: boolean;
}

/** The items that a watch has not seen before, by what the check does with them. */
export interface SelectedItems {
  /** In the order of the result. */
  kept: KeptItem[];
  /** The ids of old items, and of items that were too many: they count as seen and are never reported. */
  remembered: string[];
  /** The number of remembered items that were too many for one check. */
  overflow: number;
}

/** Facts of a read, in addition to its items. */
export interface ReadFacts {
  outages?: ReadonlyMap<string, Outage> | undefined;
  /** How far the upstream's clock is ahead of ours, as far as known, in ms. */
  clockAheadMs: number;
}

/**
 * Separates new items from items that were published before the watch began. A watch begins at its baseline: the time
 * of its first successful check. All items of this check are old. A later item without a date is new, except in the
 * first result of a feed that had always failed.
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
  // Our own clock sets the date of an observed event, so an event from before the baseline is never new.
  if (item.happenedAt) return Date.parse(item.happenedAt) <= baselineAt;
  if (isOfArchive(item, watch, baselineAt, outages?.get(item.itemId))) return true;
  if (!item.publishedAt) return false;
  if (BACKDATED_SOURCES.has(item.source)) return Date.parse(item.publishedAt) < baselineAt - BACKDATED_MS;
  return latestOf(item.publishedAt) < baselineAt + clockAheadMs;
}

/** The last millisecond that a date can mean: most platforms give seconds. */
function latestOf(publishedAt: string): number {
  const ms = Date.parse(publishedAt);
  return ms % 1000 === 0 ? ms + 999 : ms;
}

/**
 * A feed that had failed at every read of the watch has no baseline: its first result is the baseline. Items that are
 * dated after the watch's own baseline were published while the feed failed, and are new.
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
