import { lockAccount, type Database, type Tx } from '#postgres';

/** The end of the last work of each account. */
const turns = new WeakMap<Database, Map<string, Promise<void>>>();

/**
 * Runs the work after all earlier work of the account in this process. So a command waits here, and not for the lock of
 * its account in Postgres. A command that waits for this lock holds one of the few connections, so the commands of all
 * other accounts would soon wait for a connection.
 */
export function inTurnOfAccount<T>(
  database: Database,
  accountId: string,
  work: () => Promise<T>,
): Promise<T> {
  const ends = turns.get(database) ?? new Map<string, Promise<void>>();
  turns.set(database, ends);
  const result = (ends.get(accountId) ?? Promise.resolve()).then(work);
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  ends.set(accountId, end);
  void end.then(() => ends.get(accountId) === end && ends.delete(accountId));
  return result;
}

/** Runs the work in a transaction that holds the lock of the account, in its turn (see `inTurnOfAccount`). */
export function withAccountLock<T>(
  database: Database,
  accountId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return inTurnOfAccount(database, accountId, () =>
    database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      return work(tx);
    }),
  );
}
