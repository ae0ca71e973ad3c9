import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Criteria, ObservationSchema } from '#contracts';
import type { Followed, HappeningKind } from './history.js';
import { dayOf } from './keep.js';
import type { Money } from './price.js';
import type { Reported } from './report.js';
import { idsOf } from './request.js';

type ObservationInit = MessageInitShape<typeof ObservationSchema>;

/** After these instants. */
export interface Window {
  /** What happened is wanted from then on. */
  happened: Date;
  /** What was merely seen is wanted from then on. */
  seen: Date;
}

/** One thing that is known of a listing, with its own instant. */
interface Row {
  one: Followed;
  event: HappeningKind | 'seen';
  at: number;
  price: Money;
  previous?: Money | undefined;
}

/**
 * What was observed of listings, for their price history and the market's statistics, oldest first. It is told from
 * the history, so that every watch gets what lies in its own window, whoever saw it first. Told again it is the same
 * to the letter, and counts once.
 * @param window absent at a first poll: then it is what there is now
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
    ...one.happenings
      .filter(({ at }) => at > happened.getTime())
      .map(({ kind, at, price, previous }) => ({ one, event: kind, at, price, previous })),
  ]);
  return rows.sort((a, b) => a.at - b.at);
}

/** Everything that is there, once: as it was when this day first, or when something last happened to it this day. */
function rowsOfNow({ history, present }: Reported): Row[] {
  return present.flatMap((id): Row[] => {
    const one = history.followed.get(id);
    if (!one) return [];
    const today = dayOf(history.scannedAt);
    const known = [...one.sightings, ...one.happenings].filter(({ at }) => dayOf(at) === today);
    const { at, price } = known.reduce((a, b) => (b.at > a.at ? b : a), {
      at: -Infinity,
      price: one.listing.price,
    });
    return Number.isFinite(at) ? [{ one, event: 'seen', at, price }] : [];
  });
}
