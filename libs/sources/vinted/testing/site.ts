import { criteriaOf } from '../../testing/fake-upstream.js';
import { follow, type Followup } from '../follow.js';
import { readHistory, writeHistory, type History } from '../history.js';
import { marketOf } from '../markets.js';
import { observationsOf } from '../observations.js';
import type { CatalogPage, Listing } from '../parse.js';
import { reportOfAll, reportSince, type Reported } from '../report.js';
import { scan, type Scan, type ScanDepth } from '../scan.js';

// Only for specs. `Site` is a list of listings on small pages. A spec can add and remove listings, move them and change
// their prices. `Follow` scans this list again and again.

/** Number of listings on one page. */
const SITE_PAGE = 4;

/** A listing on the site. */
export interface Offer {
  id: string;
  cents: number;
  currency?: string;
  isPromoted?: boolean;
}

/** A list of invented listings. `put` and `bump` place listings at the top. */
export class Site {
  offers: Offer[] = [];

  constructor(ids: readonly string[] = []) {
    this.offers = ids.map((id) => ({ id, cents: 2_000 }));
  }

  /** Adds listings at the top: the last id is the newest. */
  put(...ids: string[]): void {
    for (const id of ids) this.offers.unshift({ id, cents: 2_000 });
  }

  /** Removes a listing. */
  take(id: string): void {
    this.offers = this.offers.filter((offer) => offer.id !== id);
  }

  /** Moves a listing to the top. */
  bump(id: string): void {
    const offer = this.offers.find((one) => one.id === id);
    if (offer) this.offers = [offer, ...this.offers.filter((one) => one !== offer)];
  }

  /** Sets the price of a listing, in hundredths of the currency. */
  price(id: string, cents: number, currency = 'EUR'): void {
    for (const offer of this.offers) if (offer.id === id) Object.assign(offer, { cents, currency });
  }

  /** Scans the list with the function that the connector uses. */
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
/** The time of the first scan. */
export const START = Date.parse('2026-03-04T12:00:00.000Z');
/** The time between two scans. */
export const TEN_MINUTES = 600_000;
/** Returns `count` different ids: the name with a number. */
export const ids = (count: number, name = 'old') => Array.from({ length: count }, (_, n) => `${name}${n}`);

/** Scans a site repeatedly, and compares each scan with the history. After each scan, the history is `stored`. */
export class Follow {
  history: History | undefined;
  at = START;
  last: Followup | undefined;

  constructor(readonly site: Site) {}

  /** Scans the site once. @returns the changes that this scan reports; none for the first scan */
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

  /** Returns the changes after `since` (epoch ms), newest first. */
  report(since: number): string[] {
    return reportSince(new Date(since), reportedOf(this.last!)).map(short);
  }

  /** The report of a first poll: all current listings. */
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

/** Returns the input of a report, with the history as it is stored. */
export function reportedOf({ history, present }: Followup): Reported {
  return { market: FR, history: stored(history), present, shown: new Map() };
}

/** Returns the observations after `since` (epoch ms); those of a first poll if `since` is absent. */
export function observed(followup: Followup, since?: number) {
  const window = since === undefined ? undefined : { happened: new Date(since), seen: new Date(since) };
  return observationsOf(criteriaOf({}), reportedOf(followup), window).flatMap(({ kind }) =>
    kind?.case === 'listing' ? [kind.value] : [],
  );
}

/** Converts the history to the stored JSON and back. Data that Earshot does not store is lost. */
export function stored(history: History): History {
  const state = JSON.parse(JSON.stringify(writeHistory(history, FR))) as unknown;
  return readHistory(state, FR)!;
}

function short({ itemId, eventType }: { itemId: string; eventType: string }): string {
  return `${eventType.replace('listing.', '')} ${itemId.replace('vinted:fr:', '')}`;
}

/** Creates a site with these listings, and scans it once. @returns its `Follow` */
export async function followed(...first: string[]): Promise<Follow> {
  const following = new Follow(new Site(first));
  await following.scan();
  return following;
}
