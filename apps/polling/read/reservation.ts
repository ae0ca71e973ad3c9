import { extendReservations, release, reserve, type Reservation, type OwnReservation } from '#credits';
import type { Database } from '#postgres';
import type { PricedParts } from '#quotes';
import { unpaidCheck } from '../record/build-checks.js';
import { checkReservationOf } from './check-reservation.js';
import { checkPriceOf, type CheckPrice } from './check-price.js';
import { otherQuotes } from './quoted-prices.js';
import type { WatchChecks } from '../record/check-recorder.js';
import { extendSearches, SEARCH_LEASE_SECONDS, type DueSearch, type DueWatch } from '../due/due-work.js';
import type { PlannedRead } from './read-upstream.js';

/**
 * How long a reservation lasts: longer than the claim of its search. When a reservation expires, its replica has
 * already lost the claim, and the next replica reserves with the same id.
 */
const RESERVED_SECONDS = SEARCH_LEASE_SECONDS + 60;

/** A read, with only the watches whose accounts can pay. */
export interface ReservedRead {
  read: PlannedRead;
  /**
   * The searches of the read, each with only the watches whose checks can be paid. A search without such a watch is
   * left out.
   */
  searches: DueSearch[];
  /**
   * The price of each watch's check, by watch id. Each price is computed only once, and used to reserve and to charge.
   */
  prices: ReadonlyMap<string, CheckPrice>;
  /** The failed checks of watches whose accounts cannot pay. */
  unpaid: WatchChecks[];
}

/** The result of `reserveReads`. */
export interface ReservedReads {
  reads: ReservedRead[];
  /** Watches of accounts that have no ledger yet. They get no check now; the caller postpones them. */
  unopened: DueWatch[];
}

/**
 * Reserves the maximum cost of the checks of all watches in these reads, before any request. Makes all reservations in
 * one transaction: a transaction for each read would halve the rate of a lane whose upstream responds immediately.
 */
export async function reserveReads(
  database: Database,
  connector: PricedParts,
  reads: readonly PlannedRead[],
  now: Date,
): Promise<ReservedReads> {
  const searches = reads.flatMap((read) => read.searches);
  const quotes = await otherQuotes(
    database,
    searches.flatMap((search) => search.watches.map(({ watchId }) => watchId)),
  );
  const priced = searches.flatMap((search) =>
    search.watches.map((watch) => {
      const price = checkPriceOf(connector, search, watch, quotes.get(watch.watchId));
      return { search, watch, price };
    }),
  );
  const prices = new Map(priced.map(({ watch, price }) => [watch.watchId, price]));
  const reservations = priced.map(newReservationOf);
  const { shortages, unopened } = await reserve(database, reservations);
  const shortageOf = (search: DueSearch, watch: DueWatch) =>
    shortages.get(checkReservationOf(search, watch).reservationId);
  const isOpen = (search: DueSearch, watch: DueWatch) =>
    !unopened.has(checkReservationOf(search, watch).reservationId);
  const reserved = reads.map((read) => ({
    read,
    searches: read.searches.flatMap((search) => {
      const watches = search.watches.filter((watch) => isOpen(search, watch) && !shortageOf(search, watch));
      return watches.length > 0 ? [{ ...search, watches }] : [];
    }),
    prices,
    unpaid: read.searches.flatMap((search) =>
      search.watches.flatMap((watch) => {
        const shortage = shortageOf(search, watch);
        return shortage ? [{ search, watch, parts: () => [unpaidCheck(search, watch, shortage, now)] }] : [];
      }),
    ),
  }));
  const withoutLedger = searches.flatMap((search) =>
    search.watches.filter((watch) => !isOpen(search, watch)),
  );
  return { reads: reserved, unopened: withoutLedger };
}

/**
 * Releases the reservations of a read. Two kinds stay: reservations of checks that are charged, and reservations that
 * another replica has taken over.
 * @param charged the watches whose checks are charged
 */
export function releaseRead(
  database: Database,
  { searches }: ReservedRead,
  charged: readonly DueWatch[] = [],
): Promise<void> {
  const kept = new Set(charged.map(({ watchId }) => watchId));
  return release(
    database,
    reservationsOf(searches).flatMap(({ watch, reservation }) =>
      kept.has(watch.watchId) ? [] : [reservation],
    ),
  );
}

/** Extends the claims and the reservations of reads that wait or are running. */
export async function extendReads(database: Database, reads: readonly ReservedRead[]): Promise<void> {
  if (reads.length === 0) return;
  await extendSearches(
    database,
    reads.flatMap(({ read }) => read.searches),
  );
  const reservations = reads.flatMap(({ searches }) =>
    reservationsOf(searches).map(({ reservation }) => reservation),
  );
  await extendReservations(database, reservations, RESERVED_SECONDS);
}

function reservationsOf(searches: readonly DueSearch[]): { watch: DueWatch; reservation: OwnReservation }[] {
  return searches.flatMap((search) =>
    search.watches.map((watch) => ({ watch, reservation: checkReservationOf(search, watch) })),
  );
}

function newReservationOf(check: { search: DueSearch; watch: DueWatch; price: CheckPrice }): Reservation {
  const { search, watch, price } = check;
  return {
    ...checkReservationOf(search, watch),
    accountId: watch.accountId,
    credits: price.rateCredits * price.maxUnits,
    lifetimeSeconds: RESERVED_SECONDS,
  };
}
