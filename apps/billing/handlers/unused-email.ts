import { Refusal } from '#kernel';
import type { Tx } from '#postgres';

/**
 * Requires that an address belongs to no account and no current member. A lock on the address makes concurrent sign-ups
 * wait for each other.
 * @param inAccount ignores the email address of this account, but not the addresses of its members
 * @throws Refusal `conflict`
 */
export async function requireUnusedEmail(tx: Tx, email: string, inAccount?: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended(lower($1), 1))', [email]);
  const taken: unknown[] = await tx.query(
    `SELECT 1 FROM accounts WHERE lower(email) = lower($1) AND account_id IS DISTINCT FROM $2
     UNION ALL SELECT 1 FROM members WHERE lower(email) = lower($1) AND removed_at IS NULL`,
    [email, inAccount ?? null],
  );
  if (taken.length > 0)
    throw Refusal.conflict('an account or a member with this email address already exists');
}
