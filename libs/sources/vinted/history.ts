import { isoOfSeconds, listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { itemIdOf, type Listing } from './parse.js';
import type { Market } from './markets.js';
import type { KnownList } from './places.js';
import { isSamePrice, type Money } from './price.js';
import { listingUrl } from './request.js';

/** What is known of the listings of one search, whoever saw which read. Times are epoch milliseconds. */
export interface History {
  /** When it was last scanned. */
  scannedAt: number;
  /** Until then something may have happened that this history does not hold. */
  missedUntil?: number | undefined;
  /** The list of each phrase. */
  lists: ReadonlyMap<string, KnownList>;
  followed: ReadonlyMap<string, Followed>;
}

/** One listing that is followed, or was until it was gone. */
export interface Followed {
  /** As it was last seen. */
  listing: Listing;
  firstSeenAt: number;
  lastSeenAt: number;
  /** How many times it was put up, and how many times its price moved, as far as we saw. */
  listed: number;
  priceChanges: number;
  /** Scans in a row that went past its place without it. */
  missing: number;
  gone: boolean;
  /** Seen out of order only: it has no place yet, and nobody was told of it. */
  unplaced: boolean;
  /** Oldest first. */
  happenings: readonly Happening[];
  /** The first one of each of the last UTC days on which nothing had happened to it before. Oldest first. */
  sightings: readonly Sighting[];
}

/** When it was seen, and for what price then. */
export interface Sighting {
  at: number;
  price: Money;
}

/** What happened to a listing, and when we saw it. */
export interface Happening {
  kind: HappeningKind;
  at: number;
  /** The how manieth of its kind: 1 is the first. */
  n: number;
  price: Money;
  previous?: Money | undefined;
}

/** In the words of the observations. */
export type HappeningKind = (typeof KINDS)[number];

const KINDS = ['created', 'price_changed', 'delisted'] as const;
const VERSION = 2;

/**
 * The history as JSON. It is claimed together with those of many other searches, and holds some hundred listings, at
 * times three thousand: keys are short, and what can be told from the rest is left out.
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

/** The history that a state holds; undefined where it holds none that can be read. */
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
  // The first one stands for the others, and is wanted where something happened, or will when the listing is gone.
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
    ...(one.happenings.length > 0 && { e: one.happenings.map(writtenHappening) }),
  };
}

function isWanted(
  { happenings, missing, lastSeenAt }: Omit<Followed, 'listing'>,
  scannedAt: number,
): boolean {
  return happenings.length > 0 || missing > 0 || lastSeenAt === scannedAt;
}

/** An address of Vinted is that of the listing's id, with the title behind it: of these only the title is kept. */
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

function writtenHappening({ kind, at, n, price, previous }: Happening): unknown[] {
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
    happenings: (listOf(kept['e']) ?? []).flatMap((entry) => readHappening(listOf(entry) ?? []) ?? []),
    sightings: (listOf(kept['d']) ?? []).flatMap((entry) => readSighting(entry, price) ?? []),
  };
}

function readHappening([kind, at, n, ...money]: readonly unknown[]): Happening | undefined {
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
