import { prolong, release, reserve, type Hold, type OwnHold } from '#credits';
import type { Database } from '#postgres';
import type { PricedParts } from '#quotes';
import { unpaidCheck } from '../record/build-checks.js';
import { checkHoldOf } from './check-hold.js';
import { checkPriceOf, type CheckPrice } from './check-price.js';
import type { WatchChecks } from '../record/check-recorder.js';
import { prolongSearches, SEARCH_LEASE_SECONDS, type DueSearch, type DueWatch } from '../due/due-work.js';
import type { PlannedRead } from './read-upstream.js';

/**
 * A replica that has not stored the check within this time has also lost its claim. The next replica reserves under the
 * same id.
 */
const HOLD_SECONDS = SEARCH_LEASE_SECONDS + 60;

/** A read, limited to what the credits of the accounts allow. */
export interface ReservedRead {
  read: PlannedRead;
  /** Its searches with the watches whose checks can be paid, without searches that have none. */
  searches: DueSearch[];
  /** The price of each watch's check, by watch id. It is computed once, and used to reserve and to charge. */
  prices: ReadonlyMap<string, CheckPrice>;
  /** The failed checks of watches whose accounts cannot pay. */
  unpaid: WatchChecks[];
}

/** Reads with their reservations. */
export interface ReservedReads {
  reads: ReservedRead[];
  /** Watches of accounts without an open ledger. They are in none of the reads, and stay due. */
  unopened: DueWatch[];
}

/**
 * Reserves the maximum cost of the checks of all watches in these reads, before any request. All reservations are made
 * in one statement: a statement for each read would halve the rate of a lane whose upstream responds immediately.
 */
export async function reserveReads(
  database: Database,
  connector: PricedParts,
  reads: readonly PlannedRead[],
  now: Date,
): Promise<ReservedReads> {
  const searches = reads.flatMap((read) => read.searches);
  const priced = searches.flatMap((search) =>
    search.watches.map((watch) => ({ search, watch, price: checkPriceOf(connector, search, watch) })),
  );
  const prices = new Map(priced.map(({ watch, price }) => [watch.watchId, price]));
  const holds = priced.map(holdOf);
  const { shortages, unopened } = await reserve(database, holds);
  const shortageOf = (search: DueSearch, watch: DueWatch) => shortages.get(checkHoldOf(search, watch).holdId);
  const isOpen = (search: DueSearch, watch: DueWatch) => !unopened.has(checkHoldOf(search, watch).holdId);
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
  const waiting = searches.flatMap((search) => search.watches.filter((watch) => !isOpen(search, watch)));
  return { reads: reserved, unopened: waiting };
}

/**
 * Releases the reservations of a read, except the reservations of charged checks, and reservations that another replica
 * has made for the same check meanwhile.
 */
export function releaseRead(
  database: Database,
  { searches }: ReservedRead,
  charged: readonly DueWatch[] = [],
): Promise<void> {
  const kept = new Set(charged.map(({ watchId }) => watchId));
  return release(
    database,
    holdsOf(searches).flatMap(({ watch, hold }) => (kept.has(watch.watchId) ? [] : [hold])),
  );
}

/** Extends the claims and the reservations of reads that wait or are running. */
export async function prolongReads(database: Database, reads: readonly ReservedRead[]): Promise<void> {
  if (reads.length === 0) return;
  await prolongSearches(
    database,
    reads.flatMap(({ read }) => read.searches),
  );
  const holds = reads.flatMap(({ searches }) => holdsOf(searches).map(({ hold }) => hold));
  await prolong(database, holds, HOLD_SECONDS);
}

function holdsOf(searches: readonly DueSearch[]): { watch: DueWatch; hold: OwnHold }[] {
  return searches.flatMap((search) =>
    search.watches.map((watch) => ({ watch, hold: checkHoldOf(search, watch) })),
  );
}

function holdOf(check: { search: DueSearch; watch: DueWatch; price: CheckPrice }): Hold {
  const { search, watch, price } = check;
  return {
    ...checkHoldOf(search, watch),
    accountId: watch.accountId,
    credits: price.rateCredits * price.maxUnits,
    lifetimeSeconds: HOLD_SECONDS,
  };
}
