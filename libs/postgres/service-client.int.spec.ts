import type pg from 'pg';
import { isolateStores, type IsolatedStores } from '#testing';
import { openDatabase, together, type Database, type Tx } from './index.js';

let stores: IsolatedStores;
/** Has a single connection, so that each test uses the connection of the test before. */
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec', 1);
  await database.query('CREATE TABLE steps (step int NOT NULL UNIQUE)');
  // The first transaction of a connection prepares START TRANSACTION.
  await database.transaction((tx) => tx.query('SELECT 1'));
});
beforeEach(() => database.query('TRUNCATE steps'));
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

const insert = (tx: Tx, step: number) =>
  tx.query('INSERT INTO steps (step) VALUES ($1) RETURNING step', [step]);

/** Reads with another connection, which does not see what a transaction has not committed. */
async function committedSteps(): Promise<number[]> {
  const other = await openDatabase(stores.databaseUrl, 'other', 1);
  try {
    const rows: { step: number }[] = await other.query('SELECT step FROM steps ORDER BY step');
    return rows.map(({ step }) => step);
  } finally {
    await other.destroy();
  }
}

describe('a transaction', () => {
  it.each([
    ['with parameters', (tx: Tx) => insert(tx, 1)],
    ['without parameters', (tx: Tx) => tx.query('INSERT INTO steps VALUES (1) RETURNING step')],
  ])(
    'is rolled back completely if its first statement %s succeeds and a later one fails',
    async (_, first) => {
      let returned: unknown;
      const failing = database.transaction(async (tx) => {
        returned = await first(tx);
        await insert(tx, 1);
      });
      await expect(failing).rejects.toMatchObject({ code: '23505' });
      expect(returned).toEqual([{ step: 1 }]);
      expect(await committedSteps()).toEqual([]);
    },
  );

  it.each([
    ['with parameters', (tx: Tx) => tx.query('SELECT 1 / $1::int', [0])],
    ['without parameters', (tx: Tx) => tx.query('SELECT 1 / 0')],
  ])('stores nothing if its first statement %s fails', async (_, first) => {
    const failing = database.transaction((tx) => together([first(tx), insert(tx, 1)]));
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    await database.transaction((tx) => insert(tx, 2));
    expect(await committedSteps()).toEqual([2]);
  });

  it('can begin with one text that contains several statements', async () => {
    await database.transaction((tx) =>
      tx.query('INSERT INTO steps VALUES (1); INSERT INTO steps VALUES (2)'),
    );
    expect(await committedSteps()).toEqual([1, 2]);
  });

  it('without any statement ends, and the next statement of the connection is committed immediately', async () => {
    await database.transaction(() => Promise.resolve());
    await expect(database.transaction(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    await insert(database.manager, 3);
    expect(await committedSteps()).toEqual([3]);
  });

  it('sends START TRANSACTION and the statements of the same moment in one write', async () => {
    const runner = database.createQueryRunner();
    const { connection } = (await runner.connect()) as unknown as pg.Client;
    const writes = [jest.spyOn(connection.stream, '_write'), jest.spyOn(connection.stream, '_writev')];
    await runner.startTransaction();
    await together([insert(runner.manager, 1), insert(runner.manager, 2)]);
    expect(writes.reduce((sum, write) => sum + write.mock.calls.length, 0)).toBe(1);
    await runner.rollbackTransaction();
    for (const write of writes) write.mockRestore();
    await runner.release();
    expect(await committedSteps()).toEqual([]);
  });

  it('does not run its first statement if START TRANSACTION fails', async () => {
    const other = await openDatabase(stores.databaseUrl, 'other', 1);
    await other.transaction((tx) => tx.query('SELECT 1'));
    // Makes START TRANSACTION fail, because it is a prepared statement.
    await other.query('DEALLOCATE ALL');
    await expect(other.transaction((tx) => insert(tx, 1))).rejects.toMatchObject({ code: '26000' });
    await other.destroy();
    expect(await committedSteps()).toEqual([]);
  });
});
