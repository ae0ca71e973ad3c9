import { creditsPerCheck, creditsPerFirstScanItem, type Criteria, type SourceId } from '#contracts';
import type { SourceConnector } from '#sources';

/** A month of an estimate: 30 days. */
export const MONTH_SECONDS = 30 * 24 * 3600;

/** The data that determines the price of one search. */
export interface PricedSearch {
  source: SourceId;
  criteria: Criteria;
  intervalSeconds: number;
  coBrands: boolean;
  backfill: boolean;
}

/** The price of one search, in credits. */
export interface Price {
  creditsPerCheck: number;
  checksPerMonth: number;
  monthlyCredits: number;
  /** The maximum price of the first scan; 0 without `backfill`, because then the first check has the ordinary price. */
  firstScanCredits: number;
}

/** The functions of a connector that count what is priced: the parts of a check, and the items of a first scan. */
export type PricedParts = Pick<SourceConnector, 'unitsPerCheck' | 'itemsPerFirstScan'>;

/** Returns the number of checks in 30 days, rounded up. */
export function checksPerMonth(intervalSeconds: number): number {
  return Math.ceil(MONTH_SECONDS / intervalSeconds);
}

/**
 * Returns the price of a search by the price book: the rate of its source, times the priced parts of a check, times the
 * checks of a month.
 */
export function priceOf(search: PricedSearch, parts: PricedParts): Price {
  const { source, criteria, intervalSeconds, coBrands, backfill } = search;
  const perCheck = creditsPerCheck(source, coBrands) * (parts.unitsPerCheck?.(criteria) ?? 1);
  const checks = checksPerMonth(intervalSeconds);
  return {
    creditsPerCheck: perCheck,
    checksPerMonth: checks,
    monthlyCredits: perCheck * checks,
    firstScanCredits: backfill ? firstScan(source, criteria, parts, perCheck) : 0,
  };
}

function firstScan(source: SourceId, criteria: Criteria, parts: PricedParts, perCheck: number): number {
  const perItem = creditsPerFirstScanItem(source);
  return perItem === undefined ? perCheck : perItem * (parts.itemsPerFirstScan?.(criteria) ?? 0);
}

/** A search with its price data and its description. */
export interface QuotedSearch extends PricedSearch {
  searchId: string | null;
  label: string | null;
}

/** The fields of an estimate in the API that are computed from the prices of searches. */
export interface Quote {
  monthlyCredits: number;
  checksPerMonth: number;
  bySource: {
    source: SourceId;
    intervalSeconds: number;
    searches: number;
    checksPerMonth: number;
    monthlyCredits: number;
  }[];
  bySearch: {
    source: SourceId;
    searchId: string | null;
    label: string | null;
    creditsPerCheck: number;
    checksPerMonth: number;
    monthlyCredits: number;
  }[];
  firstScanCredits: number;
}

/**
 * Adds up the prices of searches. All searches of one source have the same interval.
 * @param partsOf returns the priced parts of a source's connector
 */
export function quoteOf(
  searches: readonly QuotedSearch[],
  partsOf: (source: SourceId) => PricedParts,
): Quote {
  const priced = searches.map((search) => ({ search, price: priceOf(search, partsOf(search.source)) }));
  const sources = [...new Set(searches.map(({ source }) => source))];
  const total = (of: (price: Price) => number, among = priced) =>
    among.reduce((sum, { price }) => sum + of(price), 0);
  return {
    monthlyCredits: total((price) => price.monthlyCredits),
    checksPerMonth: total((price) => price.checksPerMonth),
    bySource: sources.map((source) => {
      const own = priced.filter(({ search }) => search.source === source);
      return {
        source,
        intervalSeconds: own[0]?.search.intervalSeconds ?? 0,
        searches: own.length,
        checksPerMonth: total((price) => price.checksPerMonth, own),
        monthlyCredits: total((price) => price.monthlyCredits, own),
      };
    }),
    bySearch: priced.map(({ search: { source, searchId, label }, price }) => ({
      source,
      searchId,
      label,
      creditsPerCheck: price.creditsPerCheck,
      checksPerMonth: price.checksPerMonth,
      monthlyCredits: price.monthlyCredits,
    })),
    firstScanCredits: total((price) => price.firstScanCredits),
  };
}
