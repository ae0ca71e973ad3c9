import { chargeIdOf } from '#kernel';
import type { Database, Tx } from '#postgres';

/** Credits that work about to begin may cost. */
export interface Hold {
  /** The id of the fact that the work will leave: a check's, a lookup's. Holding the same twice changes nothing. */
  holdId: string;
  accountId: string;
  /** At the most. */
  credits: number;
  /** After so many seconds whoever held it is taken for dead, and the credits are free again. */
  lifetimeSeconds: number;
}

/** What was missing for a hold, in credits. */
export interface Shortage {
  needed: number;
  available: number;
}

/**
 * Reserves credits before the work: what the holds of an account come to together never exceeds its balance, whoever
 * else reserves or charges at the same time. A charge for the same fact uses the hold up; `release` gives it back.
 * @returns the shortage of each hold that the balance does not cover, by its id; the others are held
 */
export async function reserve(database: Database, holds: readonly Hold[]): Promise<Map<string, Shortage>> {
  const asked = holds.filter(({ credits }) => credits > 0);
  if (asked.length === 0) return new Map();
  return database.transaction((tx) => reserveIn(tx, asked));
}

async function reserveIn(tx: Tx, holds: readonly Hold[]): Promise<Map<string, Shortage>> {
  const accountIds = [...new Set(holds.map(({ accountId }) => accountId))].sort();
  // In the order of the accounts, so that nobody waits in a circle. Charges lock the same rows.
  const balances: { account_id: string; balance: number }[] = await tx.query(
    'SELECT account_id, balance FROM credit_balances WHERE account_id = ANY($1) ORDER BY account_id FOR UPDATE',
    [accountIds],
  );
  // In a statement of its own, after the lock: it has to see what was held meanwhile.
  const held: { hold_id: string; account_id: string; amount: number }[] = await tx.query(
    'SELECT hold_id, account_id, amount FROM credit_holds WHERE account_id = ANY($1) AND expires_at > now()',
    [accountIds],
  );
  const available = new Map(balances.map((row) => [row.account_id, row.balance]));
  for (const row of held) available.set(row.account_id, (available.get(row.account_id) ?? 0) - row.amount);
  const ownBefore = new Map(held.map((row) => [row.hold_id, row.amount]));
  const shortages = new Map<string, Shortage>();
  const granted: Hold[] = [];
  for (const hold of holds) {
    const free = (available.get(hold.accountId) ?? 0) + (ownBefore.get(hold.holdId) ?? 0);
    if (free < hold.credits) {
      shortages.set(hold.holdId, { needed: hold.credits, available: Math.max(0, free) });
      continue;
    }
    available.set(hold.accountId, free - hold.credits);
    ownBefore.set(hold.holdId, hold.credits);
    granted.push(hold);
  }
  await tx.query(
    `INSERT INTO credit_holds (hold_id, account_id, amount, expires_at)
     SELECT DISTINCT ON (hold_id) hold_id, account_id, amount, now() + make_interval(secs => seconds)
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[]) AS h (hold_id, account_id, amount, seconds)
     ON CONFLICT (hold_id) DO UPDATE SET amount = excluded.amount, expires_at = excluded.expires_at`,
    [
      granted.map(({ holdId }) => holdId),
      granted.map(({ accountId }) => accountId),
      granted.map(({ credits }) => credits),
      granted.map(({ lifetimeSeconds }) => lifetimeSeconds),
    ],
  );
  return shortages;
}

/** Gives credits back that the work did not need: it failed, or left no fact. */
export async function release(database: Database | Tx, holdIds: readonly string[]): Promise<void> {
  if (holdIds.length === 0) return;
  await database.query('DELETE FROM credit_holds WHERE hold_id = ANY($1)', [holdIds]);
}

/**
 * Gives back what was reserved for facts that turn out to be there, and charged, already: their charges came before the
 * reservation and cannot use it up. What is still to be charged stays reserved.
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

/** Removes holds whose holders are dead: they no longer count, and would be kept for ever. */
export async function dropExpired(database: Database): Promise<void> {
  await database.query(`DELETE FROM credit_holds WHERE expires_at < now()`);
}
