import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { accountNumbersOf } from './account-numbers.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

const numbersOf = (ids: readonly string[]) => database.transaction((tx) => accountNumbersOf(tx, ids));

it('an account keeps its number, and two accounts never have the same number', async () => {
  const [a, b] = [newId(), newId()];
  const first = await numbersOf([a, a]);
  const later = await numbersOf([b, a]);
  expect([...first.keys()]).toEqual([a]);
  expect(later.get(a)).toBe(first.get(a));
  expect(new Set(later.values()).size).toBe(2);
});

it('two concurrent transactions that add the same account get the same number', async () => {
  const id = newId();
  const first = database.createQueryRunner();
  await first.startTransaction();
  const numbers = await accountNumbersOf(first.manager, [id]);
  const second = numbersOf([id]);
  await until('the second transaction waits for the first', async () => {
    const rows: unknown[] = await database.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  });
  await first.commitTransaction();
  await first.release();
  expect(await second).toEqual(numbers);
});
