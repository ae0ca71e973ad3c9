import { creditsOfCoBrands, creditsPerCheck, creditsPerFirstScanItem, PRICE_BOOK_VERSION } from '#contracts';
import type { PricedParts } from '#quotes';
import type { Fetched } from '#sources';
import type { DueSearch, DueWatch } from '../due/due-work.js';
import type { OtherQuote } from './quoted-prices.js';

/** The price of one check of one watch, by the price book. */
export interface CheckPrice {
  /** Credits for one unit. A unit is an item in a first scan, an AI engine of ai_answers, or else the whole check. */
  rateCredits: number;
  /** Maximum number of units. Credits for this number are reserved, and no more units are charged. */
  maxUnits: number;
  /** True if the units are the returned items. */
  firstScan: boolean;
  /** The price book that has this price. */
  priceBookVersion: string;
}

/**
 * Returns the price of the watch's next check. If the price book has a price for each item of the source, a first check
 * with backfill is a first scan: its items are paid one by one.
 * @param quote the quote of the watch, if it has another price book. The check never costs more than this quote
 */
export function checkPriceOf(
  connector: PricedParts,
  { source, criteria }: DueSearch,
  { baselineAt, backfill }: DueWatch,
  quote?: OtherQuote,
): CheckPrice {
  const perItem = baselineAt === undefined && backfill ? creditsPerFirstScanItem(source) : undefined;
  const firstScan = perItem !== undefined;
  const maxUnits = firstScan
    ? (connector.itemsPerFirstScan?.(criteria) ?? 0)
    : (connector.unitsPerCheck?.(criteria) ?? 1);
  // A quote includes co-brands. The price of a check does not: the search for co-brands in an answer is charged with the
  // event of that answer.
  const rateCredits = perItem ?? creditsPerCheck(source);
  if (quote) {
    const quoted = Math.floor((firstScan ? quote.firstScanCredits : quote.creditsPerCheck) / maxUnits);
    const quotedRate = quoted - (quote.coBrands && !firstScan ? creditsOfCoBrands(source) : 0);
    if (quotedRate < rateCredits)
      return {
        ...{ rateCredits: Math.max(0, quotedRate), maxUnits, firstScan },
        priceBookVersion: quote.priceBookVersion,
      };
  }
  return { rateCredits, maxUnits, firstScan, priceBookVersion: PRICE_BOOK_VERSION };
}

/** Returns the number of units of a result that are charged: never more than were reserved. */
export function unitsOf({ maxUnits, firstScan }: CheckPrice, { items, units = 1 }: Fetched): number {
  return Math.min(maxUnits, firstScan ? items.length : units);
}
