import {
  countOf,
  isoOfSeconds,
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { Market } from './markets.js';
import { isInCurrency, priceOf, sellersPriceOf, type Money } from './price.js';
import { PAGE_SIZE } from './request.js';

/** A listing in the results of a search. */
export interface Listing {
  /** Vinted's id, the same in every market. */
  id: string;
  /** Earshot's id, which contains the market, because the price depends on the market. */
  itemId: string;
  title: string;
  description?: string | undefined;
  url: string;
  /** The seller's price, in the seller's currency. */
  price: Money;
  /** The converted price that the market shows, if the seller's currency differs from the market's. */
  shown?: Money | undefined;
  brand?: string | undefined;
  size?: string | undefined;
  /** In the market's language. */
  condition?: string | undefined;
  favourites?: number | undefined;
  seller?: Seller | undefined;
  photos: string[];
  /** ISO 8601: when the first photo was uploaded. Listings have no other date. */
  photoUploadedAt?: string | undefined;
  /** True if the seller pays for a place outside the normal order. */
  isPromoted: boolean;
}

/** The seller. */
export interface Seller {
  id?: string | undefined;
  login?: string | undefined;
  isBusiness: boolean;
}

/** One page of listings. */
export interface CatalogPage {
  listings: Listing[];
  warnings: string[];
  /** True if there is no further page. */
  isLast: boolean;
  /** True if the list ends here, and not only because Vinted returns no further listings. */
  isEnd: boolean;
  /** A parameter that keeps later pages consistent with this one. */
  time: number | undefined;
}

/** Vinted returns at most this many listings of one search, on all pages together. */
const MAX_LISTINGS = 960;

/**
 * Reads a page of `/api/v2/catalog/items`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseCatalog(body: unknown, market: Market): CatalogPage {
  const answer = recordOf(body);
  const entries = listOf(answer?.['items']);
  if (!answer || !entries) throw unknownShape('vinted', 'an object with a list "items"');
  const { items, warnings } = readEntries('vinted', entries, (entry) => readListing(entry, market));
  const pagination = recordOf(answer['pagination']);
  const pages = numberOf(pagination?.['total_pages']);
  const page = numberOf(pagination?.['current_page']) ?? 1;
  const total = numberOf(pagination?.['total_entries']);
  const isLast = entries.length === 0 || (pages === undefined ? entries.length < PAGE_SIZE : page >= pages);
  // If a page is empty, but must have listings according to the total, the list does not end here.
  const isEmptied = entries.length === 0 && (total ?? 0) > (page - 1) * PAGE_SIZE;
  return {
    listings: items,
    warnings,
    isLast,
    isEnd: isLast && !isEmptied && (total ?? 0) < MAX_LISTINGS,
    time: numberOf(pagination?.['time']),
  };
}

function readListing(entry: unknown, market: Market): Reading<Listing> {
  const found = recordOf(entry);
  const id = idOf(found?.['id']);
  if (!found || id === undefined) return { malformed: 'no id' };
  const title = textOf(found['title'])?.trim();
  if (title === undefined) return { malformed: 'no title' };
  const price = priceOf(found, market.currency);
  if (!price) return { malformed: 'no price' };
  const sellers = sellersPriceOf(found);
  if (![price, sellers ?? price].every(isInCurrency)) return { malformed: 'an unknown currency' };
  const photos = photosOf(found);
  const taken = recordOf(photos[0]?.['high_resolution']);
  const item: Listing = {
    id,
    itemId: itemIdOf(market, id),
    title,
    description: textOf(found['description'])?.trim(),
    url: urlOf(found, market, id),
    price: sellers ?? price,
    shown: sellers && price,
    brand: textOf(found['brand_title'] ?? recordOf(found['brand_dto'])?.['title'] ?? found['brand'])?.trim(),
    size: textOf(found['size_title'] ?? found['size'])?.trim(),
    condition: textOf(found['status'])?.trim(),
    favourites: countOf(found['favourite_count']),
    seller: sellerOf(found),
    photos: photos.map((photo) => linkOf(photo['url'])).filter((url) => url !== undefined),
    photoUploadedAt: isoOfSeconds(taken?.['timestamp']),
    isPromoted: found['promoted'] === true || found['content_source'] === 'search_promoted_items',
  };
  return { item };
}

/** Returns Earshot's id of a listing. */
export function itemIdOf({ code }: Market, id: string): string {
  return `vinted:${code}:${id}`;
}

// In the data of a product's page, the seller's keys are in the listing itself.
function sellerOf(entry: JsonRecord): Seller | undefined {
  const user = recordOf(entry['user']);
  const id = idOf(user?.['id'] ?? entry['seller_id']);
  const login = textOf(user?.['login'] ?? entry['login']);
  if (id === undefined && login === undefined) return undefined;
  return { id, login, isBusiness: (user ?? entry)['business'] === true };
}

// Until 2026 a listing had one `photo`; since then it has a list `photos`.
function photosOf(entry: JsonRecord): JsonRecord[] {
  const photos = listOf(entry['photos']) ?? [entry['photo']];
  return photos.map(recordOf).filter((photo) => photo !== undefined);
}

function urlOf(entry: JsonRecord, market: Market, id: string): string {
  const path = textOf(entry['path']);
  const fromPath = path?.startsWith('/') ? linkOf(`${market.origin}${path}`) : undefined;
  return linkOf(entry['url']) ?? fromPath ?? `${market.origin}/items/${encodeURIComponent(id)}`;
}

function linkOf(value: unknown): string | undefined {
  const url = textOf(value);
  return url !== undefined && /^https?:\/\//.test(url) && URL.canParse(url) ? url : undefined;
}

function idOf(value: unknown): string | undefined {
  const number = numberOf(value);
  return number === undefined ? textOf(value) : String(number);
}
