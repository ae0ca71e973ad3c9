import { listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shape.js';
import type { Listing } from './parse.js';
import type { KnownList } from './places.js';
import type { Money } from './price.js';

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
  /** The UTC day (`2026-03-04`) of its last observation. */
  observedDay: string;
  /** Oldest first. */
  happenings: readonly Happening[];
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
const VERSION = 1;

/** The history as JSON. Keys are short: there are some hundred listings, at times three thousand. */
export function writeHistory({ scannedAt, missedUntil, lists, followed }: History): JsonRecord {
  return {
    v: VERSION,
    at: scannedAt,
    ...(missedUntil !== undefined && { missed: missedUntil }),
    lists: Object.fromEntries(
      [...lists].map(([phrase, { order, whole }]) => [phrase, { order, ...(whole && { whole }) }]),
    ),
    items: Object.fromEntries([...followed].map(([id, one]) => [id, written(one)])),
  };
}

/** The history that a state holds; undefined where it holds none that can be read. */
export function readHistory(value: unknown, itemIdOf: (id: string) => string): History | undefined {
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
      Object.entries(items).map(([id, item]) => [id, readFollowed(id, recordOf(item) ?? {}, itemIdOf(id))]),
    ),
  };
}

function written({ listing, ...one }: Followed): JsonRecord {
  const { seller, shown, photos } = listing;
  return {
    t: listing.title,
    u: listing.url,
    p: [listing.price.amount, listing.price.currency],
    ...(shown && { x: [shown.amount, shown.currency] }),
    ...(listing.brand !== undefined && { b: listing.brand }),
    ...(listing.size !== undefined && { s: listing.size }),
    ...(listing.condition !== undefined && { q: listing.condition }),
    ...(listing.favourites !== undefined && { l: listing.favourites }),
    ...(seller && { w: [seller.id ?? null, seller.login ?? null, ...(seller.isBusiness ? [1] : [])] }),
    // The first one stands for the others; all of them are with the listing while it is shown.
    ...(photos[0] !== undefined && { f: photos[0] }),
    ...(listing.photoUploadedAt !== undefined && { k: listing.photoUploadedAt }),
    ...(listing.isPromoted && { o: 1 }),
    a: one.firstSeenAt,
    z: one.lastSeenAt,
    ...(one.listed !== 1 && { n: one.listed }),
    ...(one.priceChanges > 0 && { r: one.priceChanges }),
    ...(one.missing > 0 && { m: one.missing }),
    ...(one.gone && { g: 1 }),
    ...(one.unplaced && { y: 1 }),
    d: one.observedDay,
    ...(one.happenings.length > 0 && { e: one.happenings.map(writtenHappening) }),
  };
}

function writtenHappening({ kind, at, n, price, previous }: Happening): unknown[] {
  const money = [price, ...(previous ? [previous] : [])].flatMap(({ amount, currency }) => [
    amount,
    currency,
  ]);
  return [KINDS.indexOf(kind), at, n, ...money];
}

function readFollowed(id: string, kept: JsonRecord, itemId: string): Followed {
  const firstSeenAt = numberOf(kept['a']) ?? 0;
  return {
    listing: {
      id,
      itemId,
      title: textOf(kept['t']) ?? '',
      url: textOf(kept['u']) ?? '',
      price: readMoney(listOf(kept['p']) ?? []) ?? { amount: '0.00', currency: '' },
      shown: readMoney(listOf(kept['x']) ?? []),
      brand: textOf(kept['b']),
      size: textOf(kept['s']),
      condition: textOf(kept['q']),
      favourites: numberOf(kept['l']),
      seller: readSeller(listOf(kept['w'])),
      photos: [textOf(kept['f'])].filter((url) => url !== undefined),
      photoUploadedAt: textOf(kept['k']),
      isPromoted: kept['o'] === 1,
    },
    firstSeenAt,
    lastSeenAt: numberOf(kept['z']) ?? firstSeenAt,
    listed: numberOf(kept['n']) ?? 1,
    priceChanges: numberOf(kept['r']) ?? 0,
    missing: numberOf(kept['m']) ?? 0,
    gone: kept['g'] === 1,
    unplaced: kept['y'] === 1,
    observedDay: textOf(kept['d']) ?? '',
    happenings: (listOf(kept['e']) ?? []).flatMap((entry) => readHappening(listOf(entry) ?? []) ?? []),
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
