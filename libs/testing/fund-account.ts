import type { Database } from '#postgres';

/** Sets the balance of an account to this many credits. Specs use it for accounts that billing has not opened. */
export async function fundAccount(database: Database, accountId: string, credits: number): Promise<void> {
  await database.query(
    `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used,
       balance, turns_at, seq)
     VALUES ($1, 'unlimited', now(), now(), now() + interval '1 month', $2, 0, $2, now() + interval '1 month', 0)
     ON CONFLICT (account_id) DO UPDATE SET allowance = excluded.allowance, balance = excluded.balance`,
    [accountId, credits],
  );
}
