import type { SearchMatch } from '#matching';
import type { Outage, SourceItem } from '#sources';
import type { DueWatch } from '../due/due-work.js';

/** An item of the answer that a search matches. */
export interface MatchedAnswer {
  item: SourceItem;
  matches: SearchMatch['matches'];
}

/** Items that one check of one watch keeps at the most: the newest. */
export const MOST_KEPT = 1_000;
/** The dates of articles are their publishers': one may appear so long after its own date and be new. */
const BACKDATED_MS = 24 * 3_600_000;
const BACKDATED_SOURCES = new Set(['rss']);

/** An item of a check. `backfilled`: published before the watch began, kept as a mention and not pushed. */
export interface KeptItem extends MatchedAnswer {
  backfilled: boolean;
}

/** What becomes of the items that a watch has not seen before. */
export interface SortedItems {
  /** In the order in which they came. */
  kept: KeptItem[];
  /** Never reported. */
  remembered: string[];
  /** How many of the remembered ones were too many for one check. */
  beyond: number;
}

/** What a read says of its items beside themselves. */
export interface ReadFacts {
  outages?: ReadonlyMap<string, Outage> | undefined;
  /** How far the upstream's clock is known to be ahead of ours, in ms. */
  clockAheadMs: number;
}

/**
 * Tells what is new from what was published before the watch began. That is its baseline, the instant of its first check
 * that succeeded; items without a date are new unless the baseline has seen them.
 * @param fresh newest first
 */
export function sortItems(fresh: readonly MatchedAnswer[], watch: DueWatch, facts: ReadFacts): SortedItems {
  const kept: SortedItems['kept'] = [];
  const remembered: string[] = [];
  let beyond = 0;
  const { baselineAt } = watch;
  const isBaseline = baselineAt === undefined;
  for (const one of fresh) {
    const isOld = isBaseline || isBeforeWatch(one.item, baselineAt, watch, facts);
    const isKept = !isOld || (watch.backfill && (isBaseline || !one.item.happenedAt));
    if (!isKept) remembered.push(one.item.itemId);
    else if (kept.length < MOST_KEPT) kept.push({ ...one, backfilled: isOld });
    else {
      remembered.push(one.item.itemId);
      beyond += 1;
    }
  }
  return { kept, remembered, beyond };
}

function isBeforeWatch(
  item: SourceItem,
  baselineAt: number,
  watch: DueWatch,
  { outages, clockAheadMs }: ReadFacts,
): boolean {
  // What we saw happen is dated by ourselves: what the baseline has seen is not reported after it.
  if (item.happenedAt) return Date.parse(item.happenedAt) <= baselineAt;
  if (isOfArchive(item, watch, baselineAt, outages?.get(item.itemId))) return true;
  if (!item.publishedAt) return false;
  if (BACKDATED_SOURCES.has(item.source)) return Date.parse(item.publishedAt) < baselineAt - BACKDATED_MS;
  return latestOf(item.publishedAt) < baselineAt + clockAheadMs;
}

/** The last millisecond that a date may mean: most platforms date by the second. */
function latestOf(publishedAt: string): number {
  const ms = Date.parse(publishedAt);
  return ms % 1000 === 0 ? ms + 999 : ms;
}

/**
 * A feed that answered nothing at any read of the watch has had no baseline: its first answer is one. What is dated
 * after the watch's own baseline was published while the feed was silent, and is new.
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
