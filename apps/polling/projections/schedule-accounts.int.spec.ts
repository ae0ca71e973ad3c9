import { newId } from '#kernel';
import type { Database } from '#postgres';
import { type SpecDatabase, openSpecDatabase, until } from '#testing';
import { addAccounts } from './schedule-accounts.js';

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

const add = (ids: readonly string[]) => database.transaction((tx) => addAccounts(tx, ids));

async function numbersOf(ids: readonly string[]): Promise<unknown[]> {
  const rows: { number: number }[] = await database.query(
    'SELECT account_number AS number FROM schedule_accounts WHERE account_id = ANY($1) ORDER BY account_id',
    [ids],
  );
  return rows.map(({ number }) => number);
}

it('an account keeps its number, and two accounts never have the same number', async () => {
  const [a, b] = [newId(), newId()];
  await add([a, a]);
  const first = await numbersOf([a]);
  expect(first).toHaveLength(1);
  await add([b, a]);
  expect(await numbersOf([a])).toEqual(first);
  expect(new Set(await numbersOf([a, b])).size).toBe(2);
});

it('a known account that is added again uses up no number', async () => {
  const [a, b] = [newId(), newId()];
  await add([a]);
  for (let n = 0; n < 3; n += 1) await add([a]);
  await add([b]);
  const [[first], [second]] = [await numbersOf([a]), await numbersOf([b])];
  expect(second).toBe(Number(first) + 1);
});

it('two concurrent transactions that add the same account give the account one number', async () => {
  const id = newId();
  const first = database.createQueryRunner();
  await first.startTransaction();
  await addAccounts(first.manager, [id]);
  const second = add([id]);
  await until('the second transaction waits for the first', async () => {
    const rows: unknown[] = await database.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length > 0;
  });
  await first.commitTransaction();
  await first.release();
  await second;
  expect(await numbersOf([id])).toHaveLength(1);
});
