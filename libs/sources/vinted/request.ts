import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, filterOf } from '../shared/filters.js';
import { alternativesOf } from '../shared/terms.js';
import { faultsOfMarket, type Market } from './markets.js';

/** Listings of one page: Vinted's maximum. */
export const PAGE_SIZE = 96;
/**
 * Minimum number of pages of a scan, unless the search has many phrases. So about three hundred listings are followed.
 */
export const SCAN_PAGES = 3;
/**
 * Maximum number of pages of all phrases in one read. With the budget's rate they take one and a half minutes. A claim
 * on the search lasts much longer (ten minutes).
 */
export const PAGES_PER_READ = 30;

const ORDER = 'newest_first';
const ID_FILTERS = ['brand_ids', 'size_ids', 'catalog_ids', 'color_ids', 'status_ids'] as const;

/**
 * Returns the phrases of a search. Each needs its own requests. If the search has only filters, the result is one empty
 * phrase.
 */
export function phrasesOf(criteria: Criteria): string[] {
  const phrases = alternativesOf(criteria).map((alternative) => alternative.join(' '));
  return phrases.length > 0 ? phrases : [''];
}

/** Returns the minimum number of pages of each phrase: fewer if there are many phrases. */
export function scanPagesOf(criteria: Criteria): number {
  const share = Math.floor(PAGES_PER_READ / phrasesOf(criteria).length);
  return Math.max(1, Math.min(SCAN_PAGES, share));
}

/** Returns the ids in a filter, in Vinted's format; empty if there are none or the value is invalid. */
export function idsOf(criteria: Criteria, key: (typeof ID_FILTERS)[number]): string[] {
  return readIds(filterOf(criteria, key)) ?? [];
}

/** Returns a fault for each part of the criteria that Vinted does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...faultsOfMarket(criteria),
    ...faultsOfSort('vinted', criteria, [ORDER]),
    ...ID_FILTERS.flatMap((key) => faultsOfIds(criteria, key)),
  ];
  if (alternativesOf(criteria).length === 0 && ID_FILTERS.every((key) => idsOf(criteria, key).length === 0)) {
    const filters = ID_FILTERS.map((key) => `filters.${key}`).join(', ');
    faults.push({ path: 'query', message: `a search on vinted needs a query, terms or one of ${filters}` });
  }
  if (phrasesOf(criteria).length > PAGES_PER_READ) {
    faults.push({
      path: 'terms',
      message: `vinted needs a request for each term, so the maximum number of terms is ${PAGES_PER_READ}`,
    });
  }
  const { priceMin = 0, priceMax = Infinity } = criteria;
  if (priceMin > priceMax) faults.push({ path: 'priceMax', message: 'must not be below priceMin' });
  return faults;
}

/**
 * Returns the address of one page of the listings that match a phrase, newest first. `time` keeps later pages
 * consistent.
 */
export function catalogUrl(
  market: Market,
  criteria: Criteria,
  phrase: string,
  page: number,
  time?: number,
): string {
  const { priceMin, priceMax } = criteria;
  const bounded = priceMin !== undefined || priceMax !== undefined;
  const query = new URLSearchParams({
    ...(phrase !== '' && { search_text: phrase }),
    ...Object.fromEntries(
      ID_FILTERS.map((key) => [key, idsOf(criteria, key).join(',')]).filter(([, ids]) => ids !== ''),
    ),
    ...(priceMin !== undefined && { price_from: String(priceMin) }),
    ...(priceMax !== undefined && { price_to: String(priceMax) }),
    ...(bounded && { currency: market.currency }),
    // Following needs this order: in all other orders, a listing's place does not depend on its age.
    order: ORDER,
    page: String(page),
    per_page: String(PAGE_SIZE),
    ...(time !== undefined && { time: String(time) }),
  });
  return `${market.origin}/api/v2/catalog/items?${query}`;
}

/** Returns the address of the page of one listing. */
export function listingUrl(market: Market, id: string): string {
  return `${market.origin}/items/${encodeURIComponent(id)}`;
}

function faultsOfIds(criteria: Criteria, key: (typeof ID_FILTERS)[number]): Fault[] {
  const value: unknown = criteria.filters?.[key];
  if (value === undefined || readIds(value)) return [];
  const message = 'must be a list of numeric ids, or a text of ids with commas between them';
  return [{ path: `filters.${key}`, message }];
}

function readIds(value: unknown): string[] | undefined {
  if (typeof value === 'string') {
    const ids = value
      .split(',')
      .map((id) => id.trim())
      .filter((id) => id !== '');
    return ids.every((id) => /^[1-9]\d{0,14}$/.test(id)) ? unique(ids.map(Number)) : undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const ids = value.filter((id): id is number => Number.isSafeInteger(id) && (id as number) > 0);
  return ids.length === value.length ? unique(ids) : undefined;
}

function unique(ids: readonly number[]): string[] {
  return [...new Set(ids)].map(String);
}
