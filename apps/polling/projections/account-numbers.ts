import type { Tx } from '#postgres';

/**
 * Returns the numbers by which `watch_schedule` refers to accounts, by account id. An account without a number gets one.
 * Rows are never deleted, because later watches of the account use the same number.
 */
export async function accountNumbersOf(
  tx: Tx,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // The ids are sorted: two calls that add the same accounts insert them in the same order, so they cannot deadlock.
  // Two transactions can still deadlock if they make several calls, or because they have already locked searches. The
  // batch is repeated then.
  const ids = [...new Set(accountIds)].sort();
  const known = await readNumbers(tx, ids);
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return known;
  await tx.query(
    'INSERT INTO schedule_accounts (account_id) SELECT unnest($1::uuid[]) ON CONFLICT (account_id) DO NOTHING',
    [missing],
  );
  // Another transaction may have added some of them since the first query.
  return readNumbers(tx, ids);
}

async function readNumbers(tx: Tx, ids: readonly string[]): Promise<Map<string, number>> {
  const rows: { account_id: string; account_number: number }[] = await tx.query(
    'SELECT account_id, account_number FROM schedule_accounts WHERE account_id = ANY($1)',
    [ids],
  );
  return new Map(rows.map((row) => [row.account_id, row.account_number]));
}
