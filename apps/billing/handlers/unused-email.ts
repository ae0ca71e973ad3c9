import { Refusal } from '#kernel';
import type { Tx } from '#postgres';

/**
 * Each address belongs to one account: as its contact, or as that of one of its members. A lock on the address
 * serialises concurrent sign-ups.
 * @param inAccount the account that the address may belong to already, as its contact
 * @throws Refusal `conflict`
 */
export async function requireUnusedEmail(tx: Tx, email: string, inAccount?: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended(lower($1), 1))', [email]);
  const taken: unknown[] = await tx.query(
    `SELECT 1 FROM accounts WHERE lower(email) = lower($1) AND account_id IS DISTINCT FROM $2
     UNION ALL SELECT 1 FROM members WHERE lower(email) = lower($1) AND removed_at IS NULL`,
    [email, inAccount ?? null],
  );
  if (taken.length > 0) throw Refusal.conflict('an account with this e-mail address already exists');
}
