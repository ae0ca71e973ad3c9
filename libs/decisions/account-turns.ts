import { Outage } from '#kernel';
import { lockAccount, type Database, type Tx } from '#postgres';

/**
 * Half of the time for which the caller of a command waits. On an overloaded machine, a command that waited longer would
 * only be executed after its caller has got 503. So the queues would contain only such commands, and all would fail.
 */
const BEGIN_WITHIN_MS = 5000;

/** The end of the last work of each account. */
const turns = new WeakMap<Database, Map<string, Promise<void>>>();

/**
 * Runs the work in a transaction, after all earlier work of the account in this process. So a command waits here, and not
 * for the lock of its account in Postgres. A command that waits for this lock holds one of the few connections, so the
 * commands of all other accounts would soon wait for a connection.
 * @param beginWithinMs how long the work can wait for the earlier work and for a connection; default 5 s
 * @throws Outage after this time; `work` was not called then
 */
export function inTurnOfAccount<T>(
  database: Database,
  accountId: string,
  work: (tx: Tx) => Promise<T>,
  beginWithinMs = BEGIN_WITHIN_MS,
): Promise<T> {
  const asked = performance.now();
  const refuseLate = () => {
    if (performance.now() - asked > beginWithinMs)
      throw new Outage('Postgres', 'earlier changes have not ended in time');
  };
  const ends = turns.get(database) ?? new Map<string, Promise<void>>();
  turns.set(database, ends);
  const result = (ends.get(accountId) ?? Promise.resolve()).then(() => {
    refuseLate();
    return database.transaction((tx) => {
      refuseLate();
      return work(tx);
    });
  });
  const end = result.then(
    () => undefined,
    () => undefined,
  );
  ends.set(accountId, end);
  void end.then(() => ends.get(accountId) === end && ends.delete(accountId));
  return result;
}

/** Runs the work as `inTurnOfAccount` does, in a transaction that holds the lock of the account. */
export function withAccountLock<T>(
  database: Database,
  accountId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return inTurnOfAccount(database, accountId, async (tx) => {
    await lockAccount(tx, accountId);
    return work(tx);
  });
}
