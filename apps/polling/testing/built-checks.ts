import { create } from '@bufbuild/protobuf';
import { CriteriaSchema, ItemSchema, type Check } from '#contracts';
import type { Fetched } from '#sources';
import { completedCheck, type PricedCheck } from '../record/build-checks.js';
import type { MatchedSourceItem } from '../record/new-items.js';
import { checkPriceOf } from '../read/check-price.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';

export const NOW = Date.parse('2026-03-04T12:00:00.000Z');
export const HOUR = 3_600_000;
export const iso = (ms: number) => new Date(ms).toISOString();

export function watchOf(more: Partial<DueWatch> = {}): DueWatch {
  return {
    watchId: '0190a0b0-0000-7000-8000-000000000001',
    searchKey: 'hackernews:abc',
    accountId: '0190a0b0-0000-7000-8000-000000000002',
    keywordId: '',
    searchId: '',
    intervalSeconds: 600,
    backfill: false,
    baselineAt: NOW - HOUR,
    coveredUntil: NOW - HOUR,
    tick: NOW - 1000,
    checkSeq: 0,
    ...more,
  };
}

export function searchOf(source: DueSearch['source'] = 'hackernews'): DueSearch {
  return {
    searchKey: `${source}:abc`,
    claim: '',
    source,
    criteria: create(CriteriaSchema, { query: 'acme' }),
    match: 'word',
    state: {},
    stateAt: undefined,
    failures: 0,
    minIntervalSeconds: 600,
    watches: [],
  };
}

/**
 * Returns the price of the watch's check for a connector that states three units for each check, and at most four
 * items for a first scan.
 */
export function pricedOf(search: DueSearch, watch: DueWatch): PricedCheck {
  const connector = { unitsPerCheck: () => 3, itemsPerFirstScan: () => 4 };
  return { search, watch, price: checkPriceOf(connector, search, watch), matchMode: search.match };
}

export function itemOf(
  itemId: string,
  more: { publishedAt?: string; happenedAt?: string; text?: string; source?: string } = {},
): MatchedSourceItem {
  return { item: create(ItemSchema, { itemId, source: 'hackernews', ...more }), matches: [] };
}

/** Returns the parts of a check with these items, all of which matched. */
export function check(
  watch: DueWatch,
  matched: readonly MatchedSourceItem[],
  seen: readonly string[] = [],
  search = searchOf(),
  more: Partial<Fetched> = {},
  clockAheadMs = 0,
): Check[] {
  const items = matched.map(({ item }) => item);
  const fetched = { items, gap: true, warnings: ['one feed is gone'], ...more };
  const answer = {
    kind: 'read' as const,
    fetched,
    state: {},
    readAt: new Date(NOW),
    windowFrom: new Date(NOW - HOUR),
    clockAheadMs,
  };
  return completedCheck(pricedOf(search, watch), answer, matched, new Set(seen), new Date(NOW + 500));
}

/** Returns the ids of the items that the check reports. */
export const reported = (parts: readonly Check[]) =>
  parts.flatMap(({ items }) => items.map(({ item }) => item?.itemId));
/** Returns the ids of the items that the check marks as backfilled. */
export const backfilled = (parts: readonly Check[]) =>
  parts.flatMap(({ items }) => items.flatMap((one) => (one.backfilled ? [one.item?.itemId] : [])));
/** Returns the ids of the items that the check only remembers. */
export const remembered = (parts: readonly Check[]) =>
  parts.flatMap(({ rememberedItemIds }) => rememberedItemIds);
