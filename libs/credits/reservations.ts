import { chargeIdOf } from '#kernel';
import type { Database, Tx } from '#postgres';

/** The credits that work may cost, reserved before it begins. */
export interface Hold {
  /**
   * The id of the fact that the work will produce, for example of a check, a lookup or an event. A second reservation
   * for the same id replaces the first one.
   */
  holdId: string;
  accountId: string;
  /** The maximum cost. */
  credits: number;
  /** After this many seconds the holder counts as dead, and the credits are available again. */
  lifetimeSeconds: number;
  /** The current holder (a UUID). A reservation without a holder ends only by its charge or its expiry. */
  holder?: string | undefined;
}

/**
 * A reservation and its holder. When another holder reserves for the same fact, the reservation belongs to the new
 * holder.
 */
export interface OwnHold {
  holdId: string;
  holder: string;
}

/** The shortage of a reservation, in credits. */
export interface Shortage {
  needed: number;
  available: number;
}

/** The result of reserving. Every hold that is in neither of the two collections is reserved. */
export interface Reservation {
  /** Shortages of the holds that the balance does not cover, by hold id. */
  shortages: Map<string, Shortage>;
  /** Ids of holds whose account has no ledger yet, so that its credits are unknown. */
  unopened: Set<string>;
}

/**
 * Reserves credits before the work. The sum of the reservations of an account never exceeds its balance, even
 * if other work is reserved or charged at the same time. A charge for the same fact settles the reservation;
 * `release` releases it.
 */
export async function reserve(database: Database, holds: readonly Hold[]): Promise<Reservation> {
  const asked = holds.filter(({ credits }) => credits > 0);
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

async function reserveIn(tx: Tx, holds: readonly Hold[]): Promise<Reservation> {
  const accountIds = [...new Set(holds.map(({ accountId }) => accountId))];
  const balances = await lockBalances(tx, accountIds);
  // A separate statement: it also sees the reservations that were made while the previous statement waited for the lock.
  const held: { hold_id: string | null; account_id: string; amount: number }[] = await tx.query(
    `SELECT NULL::uuid AS hold_id, account_id, sum(amount)::bigint AS amount FROM credit_holds
     WHERE account_id = ANY($1) AND expires_at > now() GROUP BY account_id
     UNION ALL
     SELECT hold_id, account_id, amount FROM credit_holds
     WHERE hold_id = ANY($2) AND account_id = ANY($1) AND expires_at > now()`,
    [accountIds, holds.map(({ holdId }) => holdId)],
  );
  const available = new Map(balances.map((row) => [row.account_id, row.balance]));
  const ownBefore = new Map<string, number>();
  for (const { hold_id: holdId, account_id: account, amount } of held) {
    const balance = available.get(account);
    if (holdId !== null) ownBefore.set(holdId, amount);
    else if (balance !== undefined) available.set(account, balance - amount);
  }
  const shortages = new Map<string, Shortage>();
  const unopened = new Set<string>();
  const granted: Hold[] = [];
  for (const hold of holds) {
    const present = available.get(hold.accountId);
    if (present === undefined) {
      unopened.add(hold.holdId);
      continue;
    }
    const free = present + (ownBefore.get(hold.holdId) ?? 0);
    if (free < hold.credits) {
      shortages.set(hold.holdId, { needed: hold.credits, available: Math.max(0, free) });
      continue;
    }
    available.set(hold.accountId, free - hold.credits);
    ownBefore.set(hold.holdId, hold.credits);
    granted.push(hold);
  }
  await insertHolds(tx, granted);
  return { shortages, unopened };
}

/** An existing reservation keeps its amount if its work is done, and never expires sooner than before. */
async function insertHolds(tx: Tx, granted: readonly Hold[]): Promise<void> {
  if (granted.length === 0) return;
  await tx.query(
    `INSERT INTO credit_holds AS h (hold_id, account_id, amount, expires_at, holder)
     SELECT DISTINCT ON (hold_id) hold_id, account_id, amount, now() + make_interval(secs => seconds), holder
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::uuid[])
       AS f (hold_id, account_id, amount, seconds, holder)
     ON CONFLICT (hold_id) DO UPDATE SET
       holder = excluded.holder,
       amount = CASE WHEN h.done_at IS NULL THEN excluded.amount ELSE h.amount END,
       expires_at = GREATEST(h.expires_at, excluded.expires_at)`,
    [
      granted.map(({ holdId }) => holdId),
      granted.map(({ accountId }) => accountId),
      granted.map(({ credits }) => credits),
      granted.map(({ lifetimeSeconds }) => lifetimeSeconds),
      granted.map(({ holder }) => holder ?? null),
    ],
  );
}

/** Locks in the order of the hold ids. A concurrent charge uses the same order, to prevent deadlocks. */
const LOCKED = 'SELECT hold_id FROM credit_holds WHERE hold_id = ANY($1) ORDER BY hold_id FOR UPDATE';

/**
 * Marks work as done, so that only the charge settles its reservation, no matter how late the charge comes. If the fact
 * was not stored after all, billing ends the reservation once it has processed the stream beyond that point.
 */
export async function holdUntilCharged(database: Database | Tx, holdIds: readonly string[]): Promise<void> {
  if (holdIds.length === 0) return;
  await database.query(
    `UPDATE credit_holds SET expires_at = 'infinity', done_at = now() WHERE hold_id IN (${LOCKED})`,
    [holdIds],
  );
}

/**
 * Like `holdUntilCharged`, for facts that another process has stored before. Reservations that have expired are made
 * again; reservations of charged facts are removed.
 */
export async function holdAdopted(
  tx: Tx,
  facts: readonly Pick<Hold, 'holdId' | 'accountId' | 'credits'>[],
): Promise<void> {
  if (facts.length === 0) return;
  // With the lock, a concurrent charge is either complete or has not begun.
  await lockBalances(
    tx,
    facts.map(({ accountId }) => accountId),
  );
  const holdIds = facts.map(({ holdId }) => holdId);
  await releaseCharged(tx, holdIds);
  await tx.query(
    `INSERT INTO credit_holds (hold_id, account_id, amount, expires_at, done_at)
     SELECT hold_id, account_id, amount, 'infinity', now()
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[]) AS f (hold_id, account_id, amount, charge_id)
     WHERE NOT EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)
     ORDER BY hold_id
     ON CONFLICT (hold_id) DO UPDATE SET expires_at = excluded.expires_at, done_at = excluded.done_at`,
    [
      holdIds,
      facts.map(({ accountId }) => accountId),
      facts.map(({ credits }) => credits),
      holdIds.map((id) => chargeIdOf(id)),
    ],
  );
}

/** Like `LOCKED`, but only holds whose work is not done and that still belong to the given holder. */
const OWN = `SELECT h.hold_id FROM credit_holds h
  JOIN unnest($1::uuid[], $2::uuid[]) AS own (hold_id, holder) ON own.hold_id = h.hold_id AND own.holder = h.holder
  WHERE h.done_at IS NULL ORDER BY h.hold_id FOR UPDATE OF h`;

/**
 * Releases credits that the work did not need, because it failed or produced no fact. The reservation remains if the
 * work is finished or if it has a later holder: a holder that was considered dead must not release the
 * credits of the later holder.
 */
export async function release(database: Database | Tx, holds: readonly OwnHold[]): Promise<void> {
  if (holds.length === 0) return;
  await database.query(`DELETE FROM credit_holds WHERE hold_id IN (${OWN})`, [
    holds.map(({ holdId }) => holdId),
    holds.map(({ holder }) => holder),
  ]);
}

/**
 * Extends reservations for long work to this many seconds from now. A reservation that has expired stays expired,
 * because its credits may be reserved for other work.
 */
export async function extendReservations(
  database: Database | Tx,
  holds: readonly OwnHold[],
  seconds: number,
): Promise<void> {
  if (holds.length === 0) return;
  await database.query(
    `UPDATE credit_holds SET expires_at = GREATEST(expires_at, now() + make_interval(secs => $3))
     WHERE hold_id IN (${OWN}) AND expires_at > now()`,
    [holds.map(({ holdId }) => holdId), holds.map(({ holder }) => holder), seconds],
  );
}

/** Settles the reservations of facts that have been charged. */
export async function useUp(tx: Tx, holdIds: readonly string[]): Promise<void> {
  if (holdIds.length === 0) return;
  await tx.query(`DELETE FROM credit_holds WHERE hold_id IN (${LOCKED})`, [holdIds]);
}

/**
 * Releases reservations of facts that have already been charged. Those charges came before the reservations,
 * so the charges cannot settle them. Reservations of facts that are not charged yet remain.
 */
export async function releaseCharged(database: Database | Tx, holdIds: readonly string[]): Promise<void> {
  if (holdIds.length === 0) return;
  await database.query(
    `DELETE FROM credit_holds h USING unnest($1::uuid[], $2::uuid[]) AS f (hold_id, charge_id)
     WHERE h.hold_id = f.hold_id
       AND EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)`,
    [holdIds, holdIds.map((id) => chargeIdOf(id))],
  );
}

/** Maximum number of rows that one statement deletes, so that it keeps their locks no longer than a charge does. */
const DROPPED_AT_ONCE = 1000;

/** Deletes reservations of dead holders. They no longer count, but their rows would be kept forever. */
export async function dropExpired(database: Database): Promise<void> {
  await dropWhere(database, 'expires_at < $1', (await nowOf(database)).toISOString());
}

/**
 * Deletes reservations of work that was done before the instant and that will never be charged: its facts were not
 * stored after all, or were purged before their charge. The caller guarantees that everything stored before the instant
 * has been charged.
 */
export async function dropNeverCharged(database: Database, doneBefore: Date): Promise<void> {
  await dropWhere(database, 'done_at < $1', doneBefore.toISOString());
}

/** The current time of the database. The times of reservations come from this clock. */
export async function nowOf(database: Database): Promise<Date> {
  const rows: { now: Date }[] = await database.query('SELECT now() AS now');
  return rows[0]?.now ?? new Date();
}

/** Skips reservations that another transaction is settling or extending. */
async function dropWhere(database: Database, condition: string, at: string): Promise<void> {
  for (let dropped = DROPPED_AT_ONCE; dropped === DROPPED_AT_ONCE;) {
    const [, count]: [unknown, number] = await database.query(
      `DELETE FROM credit_holds WHERE hold_id IN (SELECT hold_id FROM credit_holds WHERE ${condition}
         LIMIT ${DROPPED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      [at],
    );
    dropped = count;
  }
}
