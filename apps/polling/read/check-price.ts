import { creditsPerCheck, creditsPerFirstScanItem } from '#contracts';
import type { PricedParts } from '#quotes';
import type { Fetched } from '#sources';
import type { DueSearch, DueWatch } from '../due/due-work.js';

/** The price of one check of one watch, by the price book. */
export interface CheckPrice {
  /** Credits for one unit. A unit is an item in a first scan, an AI engine of ai_answers, or else the whole check. */
  rateCredits: number;
  /** Maximum number of units. Credits for this number are reserved, and no more units are charged. */
  maxUnits: number;
  /** True if the units are the returned items. */
  firstScan: boolean;
}

/**
 * Returns the price of the watch's next check. If the price book has a price for each item of the source, a first check
 * with backfill is a first scan: its items are paid one by one.
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
    // A quote includes co-brands. The price of a check does not: the search for co-brands in an answer is charged with the
    // event of that answer.
    rateCredits: creditsPerCheck(source),
    maxUnits: connector.unitsPerCheck?.(criteria) ?? 1,
    firstScan: false,
  };
}

/** Returns the number of units of a result that are charged: never more than were reserved. */
export function unitsOf({ maxUnits, firstScan }: CheckPrice, { items, units = 1 }: Fetched): number {
  return Math.min(maxUnits, firstScan ? items.length : units);
}
