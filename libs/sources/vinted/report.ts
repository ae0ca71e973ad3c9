import { buildItem } from '../shared/item.js';
import type { SourceItem } from '../source.js';
import type { Followed, ListingChange, History } from './history.js';
import type { Market } from './markets.js';
import type { Listing } from './parse.js';
import { isSamePrice } from './price.js';

/** The input of a report. */
export interface Reported {
  market: Market;
  history: History;
  /** Ids of the current listings, newest first. */
  present: readonly string[];
  /** The listings of the current scan, with fields that the history does not contain. */
  shown: ReadonlyMap<string, Listing>;
}

/** Reports all current listings as created. A first poll stores them as the baseline. */
export function reportOfAll({ market, history, present, shown }: Reported): SourceItem[] {
  return present.flatMap((id) => {
    const one = history.followed.get(id);
    if (!one) return [];
    const created = one.changes.findLast(({ kind }) => kind === 'created');
    const { price } = one.listing;
    const at = created?.at ?? one.firstSeenAt;
    return [itemOf(market, one, shown.get(id), { kind: 'created', at, n: one.listed, price })];
  });
}

/**
 * Returns all changes after `since`, newest first. Reads for different watches return the same change again, because
 * each watch needs it.
 */
export function reportSince(since: Date, { market, history, present, shown }: Reported): SourceItem[] {
  const places = new Map(present.map((id, place) => [id, place]));
  const rows = [...history.followed.values()].flatMap((one) =>
    one.changes
      .filter(({ at }) => at > since.getTime())
      .map((change) => ({ one, change, place: places.get(one.listing.id) ?? Infinity })),
  );
  rows.sort(
    (a, b) =>
      b.change.at - a.change.at ||
      (a.place === b.place ? a.one.listing.id.localeCompare(b.one.listing.id) : a.place - b.place),
  );
  return rows.map(({ one, change }) => itemOf(market, one, shown.get(one.listing.id), change));
}

function itemOf(
  market: Market,
  one: Followed,
  fresh: Listing | undefined,
  change: ListingChange,
): SourceItem {
  const listing = fresh ?? one.listing;
  const { seller, shown } = listing;
  const { price, previous } = change;
  // The market has converted only the current price.
  const converted = isSamePrice(price, listing.price) ? shown : undefined;
  const previousPrice = previous && Number(previous.amount);
  // Vinted's own search also searches these properties. For example, the title of a listing by Nike need not contain
  // the brand.
  const properties = [listing.brand, listing.size, listing.condition].filter(
    (property) => property !== undefined,
  );
  return buildItem('vinted', {
    itemId: itemIdOf(listing, change),
    eventType: `listing.${change.kind}`,
    kind: 'listing',
    url: listing.url,
    title: listing.title,
    text: [properties.join(' · '), listing.description ?? ''].filter((text) => text !== '').join('\n'),
    author: seller?.login,
    authorUrl:
      seller?.id === undefined ? undefined : `${market.origin}/member/${encodeURIComponent(seller.id)}`,
    happenedAt: new Date(change.at).toISOString(),
    previousPrice,
    engagement: { likes: listing.favourites },
    media: listing.photos.map((url) => ({ url, type: 'image' })),
    body: {
      id: listing.id,
      market: market.code,
      title: listing.title,
      price: Number(price.amount),
      currency: price.currency,
      previousPrice: previousPrice ?? null,
      previousCurrency: previous?.currency ?? null,
      convertedPrice: converted ? Number(converted.amount) : null,
      convertedCurrency: converted?.currency ?? null,
      brand: listing.brand ?? null,
      size: listing.size ?? null,
      condition: listing.condition ?? null,
      favourites: listing.favourites ?? null,
      photos: listing.photos,
      photoUploadedAt: listing.photoUploadedAt ?? null,
      isPromoted: listing.isPromoted,
      seller: seller
        ? { id: seller.id ?? null, login: seller.login ?? null, isBusiness: seller.isBusiness }
        : null,
      firstSeenAt: new Date(one.firstSeenAt).toISOString(),
    },
  });
}

/**
 * The id is derived only from the listing and the change. So a read that is repeated after a crash reports the same
 * change with the same id.
 */
function itemIdOf({ itemId }: Listing, { kind, n, price }: ListingChange): string {
  switch (kind) {
    case 'created':
      return n === 1 ? itemId : `${itemId}:listed:${n}`;
    case 'price_changed':
      return `${itemId}:price:${price.amount}:${n}`;
    case 'delisted':
      return `${itemId}:delisted:${n}`;
  }
}
