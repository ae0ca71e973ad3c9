import { creditsPerCheck, creditsPerFirstScanItem } from '#contracts';
import type { PricedParts } from '#quotes';
import type { Fetched } from '#sources';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/** What one check of one watch costs, by the price book. */
export interface CheckPrice {
  /** Credits for one unit: a priced part of the check (an engine), in a first scan an item. */
  rateCredits: number;
  /** Units at the most: so many are reserved for, and no more are charged. */
  mostUnits: number;
  /** The units are the items that are returned. */
  firstScan: boolean;
}

/** The price of the watch's next check. Its first poll, with backfill, is a first scan where the source prices items. */
export function checkPriceOf(
  connector: PricedParts,
  { source, criteria }: DueSearch,
  { baselineAt, backfill }: DueWatch,
): CheckPrice {
  const perItem = baselineAt === undefined && backfill ? creditsPerFirstScanItem(source) : undefined;
  if (perItem !== undefined)
    return {
      rateCredits: perItem,
      mostUnits: connector.itemsPerFirstScan?.(criteria) ?? 0,
      firstScan: true,
    };
  return {
    // Brands named beside the own one are quoted, but not read yet: nobody pays for what is not read.
    rateCredits: creditsPerCheck(source),
    mostUnits: connector.unitsPerCheck?.(criteria) ?? 1,
    firstScan: false,
  };
}

/** Units of an answer that are charged: never more than were reserved for. */
export function unitsOf({ mostUnits, firstScan }: CheckPrice, { items, units = 1 }: Fetched): number {
  return Math.min(mostUnits, firstScan ? items.length : units);
}
