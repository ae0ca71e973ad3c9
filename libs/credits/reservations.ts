import { chargeIdOf } from '#kernel';
import type { Database, Tx } from '#postgres';

/** The streams of the facts for which credits are reserved until their charge. */
export const RESERVED_STREAMS = ['CHECKS', 'LOOKUPS', 'EXPLORES'] as const;
/** A stream of facts for which credits are reserved until their charge. */
export type ReservedStream = (typeof RESERVED_STREAMS)[number];

/** The maximum credits that some work can cost, reserved before the work begins. */
export interface Reservation {
  /**
   * The id of the fact that the work will produce, for example of a check, a lookup or an event. A second reservation
   * for the same id replaces the holder and, until the work is done, the amount. The later of both expiry times
   * applies.
   */
  reservationId: string;
  accountId: string;
  /** The maximum cost. */
  credits: number;
  /**
   * After this many seconds the holder counts as dead, and the credits are available again, unless the reservation was
   * extended or its work is done.
   */
  lifetimeSeconds: number;
  /** The current holder (a UUID). `release` and `extendReservations` never change a reservation without a holder. */
  holder?: string | undefined;
  /**
   * True if several holders can work at the same time. Then a second reservation for the same id leaves the reservation
   * without a holder, so that neither holder releases credits that the other holder needs.
   */
  isShared?: boolean;
}

/**
 * A reservation and its holder. When another holder reserves for the same fact, the reservation belongs to the new
 * holder.
 */
export interface OwnReservation {
  reservationId: string;
  holder: string;
}

/** The shortage of a reservation, in credits. */
export interface Shortage {
  needed: number;
  available: number;
}

/**
 * The result of reserving. A reservation that is in neither of the two collections is reserved, or needs no credits.
 */
export interface ReserveResult {
  /** Shortages of the reservations that the balance does not cover, by reservation id. */
  shortages: Map<string, Shortage>;
  /** Ids of reservations whose account has no ledger yet, so that its credits are unknown. */
  unopened: Set<string>;
}

/**
 * Reserves credits before the work. A reservation is made only if the account's balance covers it together with the
 * account's other reservations. This is true even if other work is reserved or charged at the same time. A charge for
 * the same fact settles the reservation; `release` releases it.
 */
export async function reserve(
  database: Database,
  reservations: readonly Reservation[],
): Promise<ReserveResult> {
  const asked = reservations.filter(({ credits }) => credits > 0);
  if (asked.length === 0) return { shortages: new Map(), unopened: new Set() };
  return database.transaction((tx) => reserveIn(tx, asked));
}

/** Locks in the order of the accounts, to prevent deadlocks. Charges lock the same rows. */
async function lockBalances(
  tx: Tx,
  accountIds: readonly string[],
): Promise<{ account_id: string; balance: number }[]> {
  return tx.query(
    'SELECT account_id, balance FROM credit_balances WHERE account_id = ANY($1) ORDER BY account_id FOR UPDATE',
    [[...new Set(accountIds)]],
  );
}

async function reserveIn(tx: Tx, reservations: readonly Reservation[]): Promise<ReserveResult> {
  const accountIds = [...new Set(reservations.map(({ accountId }) => accountId))];
  const balances = await lockBalances(tx, accountIds);
  // A separate statement: it also sees the reservations that were made while the previous statement waited for the
  // lock.
  const reserved: { reservation_id: string | null; account_id: string; amount: number; done: boolean }[] =
    await tx.query(
      `SELECT NULL::uuid AS reservation_id, account_id, sum(amount)::bigint AS amount, false AS done
       FROM credit_reservations WHERE account_id = ANY($1) AND expires_at > now() GROUP BY account_id
       UNION ALL
       SELECT reservation_id, account_id, amount, done_at IS NOT NULL FROM credit_reservations
       WHERE reservation_id = ANY($2) AND account_id = ANY($1) AND expires_at > now()`,
      [accountIds, reservations.map(({ reservationId }) => reservationId)],
    );
  const available = new Map(balances.map((row) => [row.account_id, row.balance]));
  const ownBefore = new Map<string, number>();
  const done = new Set<string>();
  for (const { reservation_id: reservationId, account_id: account, amount, done: isDone } of reserved) {
    const balance = available.get(account);
    if (reservationId === null) {
      if (balance !== undefined) available.set(account, balance - amount);
    } else if (isDone) done.add(reservationId);
    else ownBefore.set(reservationId, amount);
  }
  const shortages = new Map<string, Shortage>();
  const unopened = new Set<string>();
  const granted: Reservation[] = [];
  for (const reservation of reservations) {
    const present = available.get(reservation.accountId);
    if (present === undefined) {
      unopened.add(reservation.reservationId);
      continue;
    }
    // The reservation of done work keeps its amount, so it needs no further credits and frees none.
    if (done.has(reservation.reservationId)) {
      granted.push(reservation);
      continue;
    }
    const free = present + (ownBefore.get(reservation.reservationId) ?? 0);
    if (free < reservation.credits) {
      shortages.set(reservation.reservationId, { needed: reservation.credits, available: Math.max(0, free) });
      continue;
    }
    available.set(reservation.accountId, free - reservation.credits);
    const isTakenOver = ownBefore.has(reservation.reservationId);
    ownBefore.set(reservation.reservationId, reservation.credits);
    granted.push(isTakenOver && reservation.isShared ? { ...reservation, holder: undefined } : reservation);
  }
  await insertReservations(tx, granted);
  return { shortages, unopened };
}

/**
 * Stores reservations. An existing reservation keeps its amount if its work is done, and never expires sooner than
 * before.
 */
async function insertReservations(tx: Tx, granted: readonly Reservation[]): Promise<void> {
  if (granted.length === 0) return;
  await tx.query(
    `INSERT INTO credit_reservations AS c (reservation_id, account_id, amount, expires_at, holder)
     SELECT DISTINCT ON (reservation_id) reservation_id, account_id, amount, now() + make_interval(secs => seconds),
       holder
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::uuid[])
       AS f (reservation_id, account_id, amount, seconds, holder)
     ON CONFLICT (reservation_id) DO UPDATE SET
       holder = excluded.holder,
       amount = CASE WHEN c.done_at IS NULL THEN excluded.amount ELSE c.amount END,
       expires_at = GREATEST(c.expires_at, excluded.expires_at)`,
    [
      granted.map(({ reservationId }) => reservationId),
      granted.map(({ accountId }) => accountId),
      granted.map(({ credits }) => credits),
      granted.map(({ lifetimeSeconds }) => lifetimeSeconds),
      granted.map(({ holder }) => holder ?? null),
    ],
  );
}

/** Locks in the order of the reservation ids. A concurrent charge uses the same order, to prevent deadlocks. */
const LOCKED = `SELECT reservation_id FROM credit_reservations WHERE reservation_id = ANY($1)
  ORDER BY reservation_id FOR UPDATE`;

/**
 * Marks work as done, so that only the charge settles its reservation, no matter how late the charge comes. If the fact
 * was not stored after all, billing ends the reservation after it has processed the stream beyond the time of this
 * call.
 * @param stream the stream of the facts
 */
export async function keepUntilCharged(
  database: Database | Tx,
  stream: ReservedStream,
  reservationIds: readonly string[],
): Promise<void> {
  if (reservationIds.length === 0) return;
  await database.query(
    `UPDATE credit_reservations SET expires_at = 'infinity', done_at = now(), stream = $2
     WHERE reservation_id IN (${LOCKED})`,
    [reservationIds, stream],
  );
}

/**
 * Keeps the reservations of facts until the facts are charged. Another process has stored these facts before.
 * Reservations that have expired are made again; reservations of charged facts are removed.
 * @param stream the stream of the facts
 */
export async function keepAdopted(
  tx: Tx,
  stream: ReservedStream,
  facts: readonly Pick<Reservation, 'reservationId' | 'accountId' | 'credits'>[],
): Promise<void> {
  if (facts.length === 0) return;
  // With the lock, a concurrent charge is either complete or has not begun.
  await lockBalances(
    tx,
    facts.map(({ accountId }) => accountId),
  );
  const reservationIds = facts.map(({ reservationId }) => reservationId);
  await releaseCharged(tx, reservationIds);
  await tx.query(
    `INSERT INTO credit_reservations (reservation_id, account_id, amount, expires_at, done_at, stream)
     SELECT reservation_id, account_id, amount, 'infinity', now(), $5
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[]) AS f (reservation_id, account_id, amount, charge_id)
     WHERE NOT EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)
     ORDER BY reservation_id
     ON CONFLICT (reservation_id) DO UPDATE SET
       expires_at = excluded.expires_at, done_at = excluded.done_at, stream = excluded.stream`,
    [
      reservationIds,
      facts.map(({ accountId }) => accountId),
      facts.map(({ credits }) => credits),
      reservationIds.map((id) => chargeIdOf(id)),
      stream,
    ],
  );
}

/** Like `LOCKED`, but only reservations whose work is not done and that still belong to the given holder. */
const OWN = `SELECT c.reservation_id FROM credit_reservations c
  JOIN unnest($1::uuid[], $2::uuid[]) AS own (reservation_id, holder)
    ON own.reservation_id = c.reservation_id AND own.holder = c.holder
  WHERE c.done_at IS NULL ORDER BY c.reservation_id FOR UPDATE OF c`;

/**
 * Releases credits that the work did not need, because it failed or produced no fact. A reservation remains if its
 * work is done or if the reservation has a later holder. A holder that was considered dead must not release the credits
 * of the later holder.
 */
export async function release(
  database: Database | Tx,
  reservations: readonly OwnReservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  await database.query(`DELETE FROM credit_reservations WHERE reservation_id IN (${OWN})`, [
    reservations.map(({ reservationId }) => reservationId),
    reservations.map(({ holder }) => holder),
  ]);
}

/**
 * Extends reservations for long work to this many seconds from now, and never shortens them. A reservation stays
 * unchanged if it has expired, because its credits can already be reserved for other work. It also stays unchanged if
 * its work is done or if it has a later holder.
 */
export async function extendReservations(
  database: Database | Tx,
  reservations: readonly OwnReservation[],
  seconds: number,
): Promise<void> {
  if (reservations.length === 0) return;
  await database.query(
    `UPDATE credit_reservations SET expires_at = GREATEST(expires_at, now() + make_interval(secs => $3))
     WHERE reservation_id IN (${OWN}) AND expires_at > now()`,
    [
      reservations.map(({ reservationId }) => reservationId),
      reservations.map(({ holder }) => holder),
      seconds,
    ],
  );
}

/** Settles the reservations of facts that have been charged. */
export async function useUp(tx: Tx, reservationIds: readonly string[]): Promise<void> {
  if (reservationIds.length === 0) return;
  await tx.query(`DELETE FROM credit_reservations WHERE reservation_id IN (${LOCKED})`, [reservationIds]);
}

/**
 * Releases reservations of facts that have already been charged. Those charges came before the reservations,
 * so the charges cannot settle them. Reservations of facts that are not charged yet remain.
 */
export async function releaseCharged(
  database: Database | Tx,
  reservationIds: readonly string[],
): Promise<void> {
  if (reservationIds.length === 0) return;
  await database.query(
    `DELETE FROM credit_reservations c USING unnest($1::uuid[], $2::uuid[]) AS f (reservation_id, charge_id)
     WHERE c.reservation_id = f.reservation_id
       AND EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)`,
    [reservationIds, reservationIds.map((id) => chargeIdOf(id))],
  );
}

/**
 * Maximum number of rows that one statement deletes, so that the statement keeps its locks only for a short time.
 */
const DROPPED_AT_ONCE = 1000;

/**
 * Deletes expired reservations. They no longer count, but their rows would otherwise be kept forever.
 */
export async function dropExpired(database: Database): Promise<void> {
  await dropWhere(database, 'expires_at < $1', [(await nowOf(database)).toISOString()]);
}

/**
 * Deletes reservations of work that was done before the instant and that will never be charged. The facts of this work
 * were not stored after all, or were purged before they were charged. The caller guarantees that everything that the
 * stream contained at the instant has been charged.
 * @param stream only reservations of work whose facts are in this stream. `unknown`: only reservations without a
 *   stored stream, which an older release has made; then the guarantee must apply to all streams
 */
export async function dropNeverCharged(
  database: Database,
  stream: ReservedStream | 'unknown',
  doneBefore: Date,
): Promise<void> {
  await dropWhere(database, `done_at < $1 AND COALESCE(stream, 'unknown') = $2`, [
    doneBefore.toISOString(),
    stream,
  ]);
}

/** Returns the current time of the database. The times of reservations come from this clock. */
export async function nowOf(database: Database): Promise<Date> {
  const rows: { now: Date }[] = await database.query('SELECT now() AS now');
  return rows[0]?.now ?? new Date();
}

/** Deletes the reservations that meet the condition, except those that another transaction has locked. */
async function dropWhere(database: Database, condition: string, values: string[]): Promise<void> {
  for (let dropped = DROPPED_AT_ONCE; dropped === DROPPED_AT_ONCE;) {
    const [, count]: [unknown, number] = await database.query(
      `DELETE FROM credit_reservations WHERE reservation_id IN
         (SELECT reservation_id FROM credit_reservations WHERE ${condition} LIMIT ${DROPPED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      values,
    );
    dropped = count;
  }
}
