import { criteriaOf } from '../../testing/fake-upstream.js';
import { follow, type Followup } from '../follow.js';
import { readHistory, writeHistory, type History } from '../history.js';
import { marketOf } from '../markets.js';
import { observationsOf } from '../observations.js';
import type { CatalogPage, Listing } from '../parse.js';
import { reportOfAll, reportSince, type Reported } from '../report.js';
import { scan, type Scan, type ScanDepth } from '../scan.js';

// Only for specs: a list on small pages, whose listings appear, move, change and disappear, and code that follows it.

/** Number of listings on one page. */
const SITE_PAGE = 4;

/** A listing on the site. */
export interface Offer {
  id: string;
  cents: number;
  currency?: string;
  isPromoted?: boolean;
}

/** An invented list, newest first. */
export class Site {
  offers: Offer[] = [];

  constructor(ids: readonly string[] = []) {
    this.offers = ids.map((id) => ({ id, cents: 2_000 }));
  }

  put(...ids: string[]): void {
    for (const id of ids) this.offers.unshift({ id, cents: 2_000 });
  }

  take(id: string): void {
    this.offers = this.offers.filter((offer) => offer.id !== id);
  }

  bump(id: string): void {
    const offer = this.offers.find((one) => one.id === id);
    if (offer) this.offers = [offer, ...this.offers.filter((one) => one !== offer)];
  }

  price(id: string, cents: number, currency = 'EUR'): void {
    for (const offer of this.offers) if (offer.id === id) Object.assign(offer, { cents, currency });
  }

  /** Scans the list like the connector. */
  scan(before: History | undefined, depth: ScanDepth = { atLeast: 2, atMost: 50 }): Promise<Scan> {
    return scan('lamp', before?.lists.get('lamp'), depth, (page) => Promise.resolve(this.page(page)));
  }

  private page(page: number): CatalogPage {
    const isLast = page * SITE_PAGE >= this.offers.length;
    return {
      listings: this.offers.slice((page - 1) * SITE_PAGE, page * SITE_PAGE).map(listingOf),
      warnings: [],
      isLast,
      isEnd: isLast,
      time: undefined,
    };
  }
}

function listingOf({ id, cents, currency = 'EUR', isPromoted = false }: Offer): Listing {
  return {
    id,
    itemId: `vinted:fr:${id}`,
    title: `Lamp ${id}`,
    url: `https://www.vinted.fr/items/${id}`,
    price: { amount: (cents / 100).toFixed(2), currency },
    photos: [],
    isPromoted,
  };
}

/** The market of the site. */
export const FR = marketOf('fr')!;
/** The time of the first scan of each list. */
export const START = Date.parse('2026-03-04T12:00:00.000Z');
/** The time between two scans. */
export const TEN_MINUTES = 600_000;
/** `count` different ids. */
export const ids = (count: number, name = 'old') => Array.from({ length: count }, (_, n) => `${name}${n}`);

/** Follows a site from scan to scan like the connector. Between scans the state is converted to JSON and back. */
export class Follow {
  history: History | undefined;
  at = START;
  last: Followup | undefined;

  constructor(readonly site: Site) {}

  async scan(depth?: ScanDepth, confirmedGone?: ReadonlySet<string>): Promise<string[]> {
    const scans = [await this.site.scan(this.history, depth)];
    const before = this.history;
    this.last = follow({
      before,
      scans,
      now: new Date(this.at),
      ...(confirmedGone && { confirmedGone }),
    });
    this.history = stored(this.last.history);
    const items = before ? this.report(this.at - 1) : [];
    this.at += TEN_MINUTES;
    return items;
  }

  report(since: number): string[] {
    return reportSince(new Date(since), reportedOf(this.last!)).map(short);
  }

  get all(): string[] {
    return reportOfAll(reportedOf(this.last!)).map(short);
  }

  /** The observations of the last scan. */
  get observed(): string[] {
    return observed(this.last!, this.at - TEN_MINUTES - 1).map(
      ({ event, listingId }) => `${event} ${listingId}`,
    );
  }
}

/** Returns the input of the report of a scan. The history has been converted to JSON and back. */
export function reportedOf({ history, present }: Followup): Reported {
  return { market: FR, history: stored(history), present, shown: new Map() };
}

/** Returns the observations since `since`, or those of a first poll if it is absent. */
export function observed(followup: Followup, since?: number) {
  const window = since === undefined ? undefined : { happened: new Date(since), seen: new Date(since) };
  return observationsOf(criteriaOf({}), reportedOf(followup), window).flatMap(({ kind }) =>
    kind?.case === 'listing' ? [kind.value] : [],
  );
}

/** Returns the history after it was stored. */
export function stored(history: History): History {
  const state = JSON.parse(JSON.stringify(writeHistory(history, FR))) as unknown;
  return readHistory(state, FR)!;
}

function short({ itemId, eventType }: { itemId: string; eventType: string }): string {
  return `${eventType.replace('listing.', '')} ${itemId.replace('vinted:fr:', '')}`;
}

/** Returns a site after one scan. */
export async function followed(...first: string[]): Promise<Follow> {
  const following = new Follow(new Site(first));
  await following.scan();
  return following;
}
