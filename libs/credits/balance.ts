import type { CreditPack } from '#contracts';
import type { Database, Tx } from '#postgres';

/** The credits of an account, from the projection of its ledger. */
export interface Balance {
  plan: string;
  periodStart: Date;
  periodEnd: Date;
  monthlyAllowance: number;
  allowanceRemaining: number;
  /** Sorted by expiry, the earliest first. Used up packs are left out. */
  packs: CreditPack[];
  /** The sum of allowance and packs. */
  remaining: number;
  /** The part of `remaining` that is reserved for running work. */
  reserved: number;
}

interface Row {
  plan: string;
  period_start: Date;
  period_end: Date;
  allowance: number;
  allowance_used: number;
  packs: CreditPack[];
  balance: number;
  reserved: number;
}

/** Returns the credits of the account; undefined until its ledger has been opened. */
export async function balanceOf(tx: Tx | Database, accountId: string): Promise<Balance | undefined> {
  const rows: Row[] = await tx.query(
    `SELECT b.plan, b.period_start, b.period_end, b.allowance, b.allowance_used, b.packs, b.balance,
       COALESCE((SELECT sum(c.amount) FROM credit_reservations c WHERE c.account_id = b.account_id AND c.expires_at > now()), 0)::bigint AS reserved
     FROM credit_balances b WHERE b.account_id = $1`,
    [accountId],
  );
  const row = rows[0];
  return (
    row && {
      plan: row.plan,
      periodStart: row.period_start,
      periodEnd: row.period_end,
      monthlyAllowance: row.allowance,
      allowanceRemaining: Math.max(0, row.allowance - row.allowance_used),
      packs: row.packs,
      remaining: row.balance,
      reserved: row.reserved,
    }
  );
}
