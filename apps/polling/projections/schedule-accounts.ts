import type { Tx } from '#postgres';

/**
 * Gives each account the number by which `watch_schedule` refers to it, unless it has one. Rows are never deleted,
 * because later watches of the account use the same number.
 */
export async function addAccounts(tx: Tx, accountIds: readonly string[]): Promise<void> {
  // The ids are sorted: two calls that add the same accounts insert them in the same order, so they cannot deadlock.
  // Two transactions can still deadlock if they make several calls, or if they have locked searches before, as those of
  // the previous release do. The batch is repeated then. Known accounts are left out, because each conflict would use
  // up a number.
  await tx.query(
    `INSERT INTO schedule_accounts (account_id)
     SELECT id FROM unnest($1::uuid[]) AS n (id)
     WHERE NOT EXISTS (SELECT 1 FROM schedule_accounts a WHERE a.account_id = n.id) ORDER BY id
     ON CONFLICT (account_id) DO NOTHING`,
    [[...new Set(accountIds)]],
  );
}
