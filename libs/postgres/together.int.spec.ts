import { isolateStores, type IsolatedStores } from '#testing';
import { openDatabase, together, type Database, type Tx } from './index.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 2);
  await database.query(
    'CREATE TABLE steps (position int GENERATED ALWAYS AS IDENTITY, step int NOT NULL UNIQUE)',
  );
});
beforeEach(() => database.query('TRUNCATE steps RESTART IDENTITY'));
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

const insert = (tx: Tx, step: number) =>
  tx.query('INSERT INTO steps (step) VALUES ($1) RETURNING step', [step]);

async function storedSteps(): Promise<number[]> {
  const rows: { step: number }[] = await database.query('SELECT step FROM steps ORDER BY position');
  return rows.map(({ step }) => step);
}

it('statements run in their order, also while a frequent statement becomes a prepared one', async () => {
  const steps = Array.from({ length: 60 }, (_, n) => n);
  const results = await database.transaction((tx) => together(steps.map((step) => insert(tx, step))));
  expect(results).toEqual(steps.map((step) => [{ step }]));
  expect(await storedSteps()).toEqual(steps);
});

it('`together` throws the error that made the transaction fail, and stores nothing', async () => {
  const failing = database.transaction((tx) =>
    together([insert(tx, 1), insert(tx, 2), insert(tx, 2), insert(tx, 3)]),
  );
  await expect(failing).rejects.toMatchObject({ code: '23505' });
  expect(await storedSteps()).toEqual([]);
});

it('`together` throws the error of the member that failed first, even if this member is later in the list', async () => {
  const twoSteps = async (tx: Tx) => {
    await insert(tx, 1);
    await insert(tx, 2);
  };
  const failing = database.transaction((tx) => together([twoSteps(tx), tx.query('SELECT 1 / 0')]));
  await expect(failing).rejects.toMatchObject({ code: '22012' });
});

it('`together` throws the first error even if this error kept a frequent statement from being prepared', async () => {
  const frequent = (tx: Tx) => tx.query('SELECT $1::int AS frequent', [1]);
  await database.transaction(async (tx) => {
    for (let run = 0; run < 30; run += 1) await frequent(tx);
  });
  const other = await openDatabase(stores.databaseUrl, 'other', 1);
  const twoSteps = async (tx: Tx) => {
    await tx.query('SELECT 1');
    await frequent(tx);
  };
  const failing = other.transaction((tx) => together([twoSteps(tx), twoSteps(tx), tx.query('SELECT 1 / 0')]));
  await expect(failing).rejects.toMatchObject({ code: '22012' });
  await other.destroy();
});

it('`together` waits for every member after a failure, so that no statement runs after the end of the transaction', async () => {
  const order: string[] = [];
  const fails = async () => {
    order.push('failed');
    throw new Error('refused');
  };
  const slow = async (tx: Tx) => {
    await insert(tx, 1);
    await insert(tx, 2);
    order.push('done');
  };
  const failing = database
    .transaction((tx) => together([fails(), slow(tx)]))
    .finally(() => order.push('ended'));
  await expect(failing).rejects.toThrow('refused');
  expect(order).toEqual(['failed', 'done', 'ended']);
  expect(await storedSteps()).toEqual([]);
});

it('a transaction fails and stores nothing if its connection is lost, and the pool opens another connection', async () => {
  const failing = database.transaction((tx) =>
    together([
      insert(tx, 1),
      tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
      insert(tx, 2),
      insert(tx, 3),
    ]),
  );
  await expect(failing).rejects.toThrow(/terminat/i);
  await database.transaction((tx) => together([insert(tx, 4), insert(tx, 5)]));
  expect(await storedSteps()).toEqual([4, 5]);
});
