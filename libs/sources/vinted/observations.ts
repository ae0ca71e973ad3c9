import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Criteria, ObservationSchema } from '#contracts';
import type { Followed, ChangeKind } from './history.js';
import { dayOf } from './prune-history.js';
import type { Money } from './price.js';
import type { Reported } from './report.js';
import { idsOf } from './request.js';

type ObservationInit = MessageInitShape<typeof ObservationSchema>;

/** The start of the wanted period: observations after this time are returned. */
export interface Window {
  /** The start for changes. */
  happened: Date;
  /** The start for sightings without a change. */
  seen: Date;
}

/** One observation of a listing, with its own time. */
interface Row {
  one: Followed;
  event: ChangeKind | 'seen';
  at: number;
  price: Money;
  previous?: Money | undefined;
}

/**
 * Returns the observations of listings in a period, oldest first, for their price history and the market's statistics.
 * They are derived from the shared history, so every watch gets the observations of its own period, even if a read of
 * another watch made these observations. A repeated observation has the same listing, time and event, and counts once.
 * @param window absent at a first poll: then the result is one observation for each current listing, newest listing
 *   first
 */
export function observationsOf(
  criteria: Criteria,
  reported: Reported,
  window: Window | undefined,
): ObservationInit[] {
  const search = {
    market: reported.market.code,
    brandIds: idsOf(criteria, 'brand_ids'),
    catalogIds: idsOf(criteria, 'catalog_ids'),
  };
  const rows = window ? rowsSince(window, reported) : rowsOfNow(reported);
  return rows.map(({ one: { listing, firstSeenAt }, event, at, price, previous }) => ({
    kind: {
      case: 'listing',
      value: {
        ...search,
        observedAt: new Date(at).toISOString(),
        listingId: listing.id,
        event,
        price: price.amount,
        currency: price.currency,
        previousPrice: previous?.amount ?? '',
        title: listing.title,
        url: listing.url,
        brand: listing.brand ?? '',
        firstSeenAt: new Date(firstSeenAt).toISOString(),
      },
    },
  }));
}

function rowsSince({ happened, seen }: Window, { history }: Reported): Row[] {
  const rows = [...history.followed.values()].flatMap((one): Row[] => [
    ...one.sightings
      .filter(({ at }) => at > seen.getTime())
      .map((sighting) => ({ one, event: 'seen' as const, ...sighting })),
    ...one.changes
      .filter(({ at }) => at > happened.getTime())
      .map(({ kind, at, price, previous }) => ({ one, event: kind, at, price, previous })),
  ]);
  return rows.sort((a, b) => a.at - b.at);
}

/** Returns all current listings, each once, with the time of its first sighting or last change on this day. */
function rowsOfNow({ history, present }: Reported): Row[] {
  return present.flatMap((id): Row[] => {
    const one = history.followed.get(id);
    if (!one) return [];
    const today = dayOf(history.scannedAt);
    const known = [...one.sightings, ...one.changes].filter(({ at }) => dayOf(at) === today);
    const { at, price } = known.reduce((a, b) => (b.at > a.at ? b : a), {
      at: -Infinity,
      price: one.listing.price,
    });
    return Number.isFinite(at) ? [{ one, event: 'seen', at, price }] : [];
  });
}
