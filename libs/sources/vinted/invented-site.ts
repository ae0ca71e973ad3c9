import type { History } from './history.js';
import type { CatalogPage, Listing } from './parse.js';
import { scan, type Scan, type ScanDepth } from './scan.js';

// For specs only: a list of listings that come, move, change and go, shown in small pages.

/** Listings of one page. */
const SITE_PAGE = 4;

/** A listing that somebody has put up. */
export interface Offer {
  id: string;
  cents: number;
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

  price(id: string, cents: number): void {
    for (const offer of this.offers) if (offer.id === id) offer.cents = cents;
  }

  /** Scans the list as the connector does. */
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

function listingOf({ id, cents, isPromoted = false }: Offer): Listing {
  return {
    id,
    itemId: `vinted:fr:${id}`,
    title: `Lamp ${id}`,
    url: `https://www.vinted.fr/items/${id}`,
    price: { amount: (cents / 100).toFixed(2), currency: 'EUR' },
    photos: [],
    isPromoted,
  };
}
