import { creditsPerCheck, creditsPerFirstScanItem } from '#contracts';
import type { PricedParts } from '#quotes';
import type { Fetched } from '#sources';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/** The price of one check of one watch, by the price book. */
export interface CheckPrice {
  /** Credits for one unit: a priced part of the check (an engine), or an item in a first scan. */
  rateCredits: number;
  /** Maximum number of units. Credits for this number are reserved, and no more units are charged. */
  maxUnits: number;
  /** True if the units are the returned items. */
  firstScan: boolean;
}

/**
 * Returns the price of the watch's next check. A first check with backfill is a first scan if its items have a price.
 */
export function checkPriceOf(
  connector: PricedParts,
  { source, criteria }: DueSearch,
  { baselineAt, backfill }: DueWatch,
): CheckPrice {
  const perItem = baselineAt === undefined && backfill ? creditsPerFirstScanItem(source) : undefined;
  if (perItem !== undefined)
    return {
      rateCredits: perItem,
      maxUnits: connector.itemsPerFirstScan?.(criteria) ?? 0,
      firstScan: true,
    };
  return {
    // Co-brands are part of the quote, but not of the check's price: they are charged with the event of each answer in
    // which they were searched.
    rateCredits: creditsPerCheck(source),
    maxUnits: connector.unitsPerCheck?.(criteria) ?? 1,
    firstScan: false,
  };
}

/** Returns the number of units of a result that are charged: never more than were reserved. */
export function unitsOf({ maxUnits, firstScan }: CheckPrice, { items, units = 1 }: Fetched): number {
  return Math.min(maxUnits, firstScan ? items.length : units);
}
