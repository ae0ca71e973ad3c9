import { isolateStores, until, type IsolatedStores } from '#testing';
import { deleteInParts, openDatabase, type Database } from './index.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 4);
  await database.query('CREATE TABLE old_rows (n int PRIMARY KEY, touched int NOT NULL DEFAULT 0)');
});
beforeEach(async () => {
  await database.query('TRUNCATE old_rows');
  await database.query('INSERT INTO old_rows (n) SELECT generate_series(1, 12000)');
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

async function left(): Promise<number[]> {
  const rows: { n: number }[] = await database.query('SELECT n FROM old_rows ORDER BY n');
  return rows.map(({ n }) => n);
}

it('only the rows that meet the condition are deleted, and all of these rows', async () => {
  await deleteInParts(database, 'old_rows', 's.n > $1', [2]);
  expect(await left()).toEqual([1, 2]);
});

it('rows that another transaction has locked stay, and all other rows are deleted', async () => {
  await database.transaction(async (tx) => {
    await tx.query('SELECT FROM old_rows WHERE n <= 5 FOR UPDATE');
    await deleteInParts(database, 'old_rows', 's.touched = 0');
  });
  expect(await left()).toEqual([1, 2, 3, 4, 5]);
});

it('a deletion continues if a row changes while a part is read', async () => {
  let deleting: Promise<void> | undefined;
  await database.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(7)');
    // The first part waits for this lock after its snapshot was taken, and then finds a newer version of the row.
    const afterLock = '(SELECT pg_advisory_xact_lock_shared(7)) IS NOT NULL';
    deleting = deleteInParts(database, 'old_rows', `${afterLock} AND s.n > 0`);
    await until('the deletion waits', async () => {
      const waiting: unknown[] = await database.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted",
      );
      return waiting.length > 0;
    });
    await database.query('UPDATE old_rows SET touched = 1 WHERE n = 1');
  });
  await deleting;
  expect(await left()).toEqual([]);
});
