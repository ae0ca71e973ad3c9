import { isoFromClickHouse, type ListingObservationRow } from '#clickhouse';

/** One observation of a listing. */
export type Observation = Pick<
  ListingObservationRow,
  'market' | 'observed_at' | 'event' | 'price' | 'currency' | 'first_seen_at' | 'criteria_hash'
>;

/** One step of a listing's price. */
export interface PricePoint {
  at: string;
  price: number;
  previousPrice: number | null;
  /**
   * `listing.created`, `listing.price_changed` or `listing.delisted`; null if the listing was not new when Earshot first
   * saw it.
   */
  event: string | null;
}

/** The steps of a listing's price, oldest first, and whether the listing still exists. */
export interface PriceSteps {
  points: PricePoint[];
  isGone: boolean;
}

/** Returns whether the search still runs. A search that has ended cannot report that a listing is gone. */
export type IsLive = (criteriaHash: string) => boolean;

/**
 * Returns the steps of a listing's price. If several searches see the same change of a listing at different times, the
 * change counts as one step. A listing is gone if none of the running searches that saw it finds it any more. If only
 * one search does not find it any more, the price has possibly left the price range of that search.
 * @param observations of one listing on one market, oldest first
 */
export function priceSteps(observations: readonly Observation[], isLive: IsLive): PriceSteps {
  const points: PricePoint[] = [];
  const seenBy = new Set<string>();
  let isGone = false;
  // An observation with another currency is not a step of the price, even if its number differs.
  let known: { price: number; currency: string } | undefined;
  for (const { observed_at, event, price: text, currency, criteria_hash: search } of observations) {
    const at = isoFromClickHouse(observed_at);
    const last = points.at(-1);
    if (event === 'delisted') {
      seenBy.delete(search);
      if (!last || isGone || seenBy.size > 0) continue;
      isGone = true;
      points.push({ at, price: last.price, previousPrice: null, event: 'listing.delisted' });
      continue;
    }
    if (isLive(search)) seenBy.add(search);
    const price = Number(text);
    const isNew = event === 'created' && (!last || isGone);
    if (isNew || !last)
      points.push({ at, price, previousPrice: null, event: isNew ? 'listing.created' : null });
    else if (known && price !== known.price && currency === known.currency)
      points.push({ at, price, previousPrice: known.price, event: 'listing.price_changed' });
    known = { price, currency };
    isGone = false;
  }
  return { points, isGone };
}

/**
 * Returns a listing's history in the form of the response. Its `points` are the newest `limit` steps.
 * @param steps all steps in the window, oldest first; `isGone` also depends on later observations
 */
export function priceHistoryView(
  itemId: string,
  observations: readonly Observation[],
  { points, isGone }: PriceSteps,
  limit: number,
) {
  const latest = observations.at(-1);
  const seen = observations.filter(({ event }) => event !== 'delisted');
  const prices = points.filter(({ event }) => event !== 'listing.delisted');
  const lowest = extreme(prices, (a, b) => a < b);
  const highest = extreme(prices, (a, b) => a > b);
  return {
    itemId,
    market: latest?.market ?? null,
    currency: latest?.currency ?? null,
    firstSeenAt: isoOf(observations[0]?.first_seen_at),
    lastSeenAt: isoOf(seen.at(-1)?.observed_at),
    status: isGone ? 'delisted' : 'listed',
    points: points.slice(-limit),
    summary: {
      first: prices[0]?.price ?? null,
      last: prices.at(-1)?.price ?? null,
      min: lowest?.price ?? null,
      minAt: lowest?.at ?? null,
      max: highest?.price ?? null,
      maxAt: highest?.at ?? null,
      changes: points.filter(({ event }) => event === 'listing.price_changed').length,
    },
  };
}

/** Returns the first point with the lowest or highest price. */
function extreme(points: readonly PricePoint[], beats: (a: number, b: number) => boolean) {
  return points.reduce<PricePoint | undefined>(
    (best, point) => (best && !beats(point.price, best.price) ? best : point),
    undefined,
  );
}

function isoOf(column: string | undefined): string | null {
  return column === undefined ? null : isoFromClickHouse(column);
}
