import { isoOfSeconds, listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { itemIdOf, type Listing } from './parse.js';
import type { Market } from './markets.js';
import type { KnownList } from './places.js';
import { isSamePrice, type Money } from './price.js';
import { listingUrl } from './request.js';

/** The known listings of one search, from reads for any watch. Times are epoch milliseconds. */
export interface History {
  /** The time of the last scan. */
  scannedAt: number;
  /** Changes up to this time can be missing in the history. */
  missedUntil?: number | undefined;
  /** By phrase (a text that Vinted is asked for): the listings that Vinted returned for it. */
  lists: ReadonlyMap<string, KnownList>;
  followed: ReadonlyMap<string, Followed>;
}

/** One listing that is followed, or was followed until it was gone. */
export interface Followed {
  /** The last seen version. */
  listing: Listing;
  firstSeenAt: number;
  lastSeenAt: number;
  /** Number of appearances of the listing; a higher number if it can have appeared before the history begins. */
  listed: number;
  /** Number of price changes of the listing. */
  priceChanges: number;
  /** Number of consecutive scans that read past the listing's place in the list without finding the listing. */
  missing: number;
  gone: boolean;
  /**
   * True if the listing was only seen as promoted. Then it has no place in a list yet, and has not been reported as
   * new.
   */
  unplaced: boolean;
  /** Oldest first. */
  changes: readonly ListingChange[];
  /**
   * The first sighting of each of the last two UTC days, oldest first. A day has no sighting if a change was recorded
   * first.
   */
  sightings: readonly Sighting[];
}

/** The time of a sighting, and the price at that time. */
export interface Sighting {
  at: number;
  price: Money;
}

/** A change of a listing, and when Earshot saw it. */
export interface ListingChange {
  kind: ChangeKind;
  at: number;
  /** Of a price change: its number, from 1. Otherwise the number of the appearance (see `Followed.listed`). */
  n: number;
  price: Money;
  previous?: Money | undefined;
}

/** The kinds of changes, with the names that observations use. */
export type ChangeKind = (typeof KINDS)[number];

const KINDS = ['created', 'price_changed', 'delisted'] as const;
const VERSION = 2;

/**
 * Returns the history as JSON. Earshot reads the histories of many searches at the same time, and each contains a few
 * hundred to three thousand listings. So keys are short, and data that can be derived are left out.
 */
export function writeHistory(history: History, market: Market): JsonRecord {
  const { scannedAt, missedUntil, lists, followed } = history;
  return {
    v: VERSION,
    at: scannedAt,
    ...(missedUntil !== undefined && { missed: missedUntil }),
    lists: Object.fromEntries(
      [...lists].map(([phrase, { order, whole }]) => [phrase, { order, ...(whole && { whole }) }]),
    ),
    items: Object.fromEntries(
      [...followed].map(([id, one]) => [id, written(one, scannedAt, listingUrl(market, id))]),
    ),
  };
}

/** Reads the history from a stored state. Returns undefined if it is missing or unreadable. */
export function readHistory(value: unknown, market: Market): History | undefined {
  const kept = recordOf(value);
  const lists = recordOf(kept?.['lists']);
  const items = recordOf(kept?.['items']);
  const scannedAt = numberOf(kept?.['at']);
  if (kept?.['v'] !== VERSION || !lists || !items || scannedAt === undefined) return undefined;
  return {
    scannedAt,
    missedUntil: numberOf(kept['missed']),
    lists: new Map(
      Object.entries(lists).map(([phrase, list]) => {
        const { order, whole } = recordOf(list) ?? {};
        return [phrase, { order: (listOf(order) ?? []) as string[], whole: whole === true }];
      }),
    ),
    followed: new Map(
      Object.entries(items).map(([id, item]) => [
        id,
        readFollowed(id, recordOf(item) ?? {}, scannedAt, market),
      ]),
    ),
  };
}

function written({ listing, ...one }: Followed, scannedAt: number, address: string): JsonRecord {
  const { seller, shown } = listing;
  const url = shortUrl(listing.url, address);
  // Only the first photo is stored, and only for listings that can still be reported: they have a change, are missing,
  // or were in the last scan.
  const photo = isWanted(one, scannedAt) ? listing.photos[0] : undefined;
  return {
    t: listing.title,
    ...(url !== '' && { u: url }),
    p: [listing.price.amount, listing.price.currency],
    ...(shown && { x: [shown.amount, shown.currency] }),
    ...(listing.brand !== undefined && { b: listing.brand }),
    ...(listing.size !== undefined && { s: listing.size }),
    ...(listing.condition !== undefined && { q: listing.condition }),
    ...(listing.favourites !== undefined && { l: listing.favourites }),
    ...(seller && { w: [seller.id ?? null, seller.login ?? null, ...(seller.isBusiness ? [1] : [])] }),
    ...(photo !== undefined && { f: photo }),
    ...(listing.photoUploadedAt !== undefined && { k: Date.parse(listing.photoUploadedAt) / 1000 }),
    ...(listing.isPromoted && { o: 1 }),
    a: one.firstSeenAt,
    ...(one.lastSeenAt !== scannedAt && { z: one.lastSeenAt }),
    ...(one.listed !== 1 && { n: one.listed }),
    ...(one.priceChanges > 0 && { r: one.priceChanges }),
    ...(one.missing > 0 && { m: one.missing }),
    ...(one.gone && { g: 1 }),
    ...(one.unplaced && { y: 1 }),
    ...(one.sightings.length > 0 && { d: one.sightings.map((seen) => writtenSighting(seen, listing.price)) }),
    ...(one.changes.length > 0 && { e: one.changes.map(writtenChange) }),
  };
}

function isWanted({ changes, missing, lastSeenAt }: Omit<Followed, 'listing'>, scannedAt: number): boolean {
  return changes.length > 0 || missing > 0 || lastSeenAt === scannedAt;
}

/**
 * Returns the part of a listing's address after the id, usually the title; the whole address if it has another form.
 */
function shortUrl(url: string, address: string): string {
  const behind = url.startsWith(address) ? url.slice(address.length) : url;
  return behind.startsWith('http') ? url : behind;
}

function fullUrl(kept: string, address: string): string {
  return kept.startsWith('http') ? kept : `${address}${kept}`;
}

function writtenSighting({ at, price }: Sighting, priceNow: Money): unknown {
  return isSamePrice(price, priceNow) ? at : [at, price.amount, price.currency];
}

function readSighting(kept: unknown, priceNow: Money): Sighting | undefined {
  const [at, ...money] = listOf(kept) ?? [kept];
  const instant = numberOf(at);
  return instant === undefined ? undefined : { at: instant, price: readMoney(money) ?? priceNow };
}

function writtenChange({ kind, at, n, price, previous }: ListingChange): unknown[] {
  const money = [price, ...(previous ? [previous] : [])].flatMap(({ amount, currency }) => [
    amount,
    currency,
  ]);
  return [KINDS.indexOf(kind), at, n, ...money];
}

function readFollowed(id: string, kept: JsonRecord, scannedAt: number, market: Market): Followed {
  const price = readMoney(listOf(kept['p']) ?? []) ?? { amount: '0.00', currency: '' };
  return {
    listing: {
      id,
      itemId: itemIdOf(market, id),
      title: textOf(kept['t']) ?? '',
      url: fullUrl(textOf(kept['u']) ?? '', listingUrl(market, id)),
      price,
      shown: readMoney(listOf(kept['x']) ?? []),
      brand: textOf(kept['b']),
      size: textOf(kept['s']),
      condition: textOf(kept['q']),
      favourites: numberOf(kept['l']),
      seller: readSeller(listOf(kept['w'])),
      photos: [textOf(kept['f'])].filter((url) => url !== undefined),
      photoUploadedAt: isoOfSeconds(kept['k']),
      isPromoted: kept['o'] === 1,
    },
    firstSeenAt: numberOf(kept['a']) ?? 0,
    lastSeenAt: numberOf(kept['z']) ?? scannedAt,
    listed: numberOf(kept['n']) ?? 1,
    priceChanges: numberOf(kept['r']) ?? 0,
    missing: numberOf(kept['m']) ?? 0,
    gone: kept['g'] === 1,
    unplaced: kept['y'] === 1,
    changes: (listOf(kept['e']) ?? []).flatMap((entry) => readChange(listOf(entry) ?? []) ?? []),
    sightings: (listOf(kept['d']) ?? []).flatMap((entry) => readSighting(entry, price) ?? []),
  };
}

function readChange([kind, at, n, ...money]: readonly unknown[]): ListingChange | undefined {
  const price = readMoney(money);
  const known = KINDS[numberOf(kind) ?? -1];
  if (!known || !price) return undefined;
  return {
    kind: known,
    at: numberOf(at) ?? 0,
    n: numberOf(n) ?? 1,
    price,
    previous: readMoney(money.slice(2)),
  };
}

function readMoney([amount, currency]: readonly unknown[]): Money | undefined {
  if (typeof amount !== 'string' || typeof currency !== 'string') return undefined;
  return { amount, currency };
}

function readSeller(kept: readonly unknown[] | undefined): Listing['seller'] {
  if (!kept) return undefined;
  const [id, login, business] = kept;
  return { id: textOf(id), login: textOf(login), isBusiness: business === 1 };
}
