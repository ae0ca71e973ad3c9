import { newId } from '#kernel';
import { isolateStores, type IsolatedStores } from '#testing';
import { openDatabase, type Database } from '../index.js';
import { Reservations1764100000000 } from './1764100000000-reservations.js';

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
beforeEach(() => database.query('DELETE FROM credit_reservations'));

const amounts = () => database.query('SELECT reservation_id AS id, amount FROM credit_reservations');

it('the migration keeps the reservations, in both directions', async () => {
  const id = newId();
  await database.query(
    `INSERT INTO credit_reservations (reservation_id, account_id, amount, expires_at) VALUES ($1, $1, 5, now())`,
    [id],
  );
  const migration = new Reservations1764100000000();
  const runner = database.createQueryRunner();
  await migration.down(runner);
  expect(await runner.query('SELECT hold_id, amount FROM credit_holds')).toEqual([
    { hold_id: id, amount: 5 },
  ]);
  await migration.up(runner);
  await runner.release();
  expect(await amounts()).toEqual([{ id, amount: 5 }]);
});

// The statements of the release before the migration, with its names.
it('replicas of the release before the migration reserve, keep, extend and release under the old names', async () => {
  const [id, account, holder] = [newId(), newId(), newId()];
  const locked = 'SELECT hold_id FROM credit_holds WHERE hold_id = ANY($1) ORDER BY hold_id FOR UPDATE';
  for (const amount of [3, 4])
    await database.query(
      `INSERT INTO credit_holds AS h (hold_id, account_id, amount, expires_at, holder)
       SELECT hold_id, account_id, amount, now() + make_interval(secs => seconds), holder
       FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::uuid[])
         AS f (hold_id, account_id, amount, seconds, holder)
       ON CONFLICT (hold_id) DO UPDATE SET
         holder = excluded.holder,
         amount = CASE WHEN h.done_at IS NULL THEN excluded.amount ELSE h.amount END,
         expires_at = GREATEST(h.expires_at, excluded.expires_at)`,
      [[id], [account], [amount], [60], [holder]],
    );
  expect(await amounts()).toEqual([{ id, amount: 4 }]);
  const own = `SELECT h.hold_id FROM credit_holds h
    JOIN unnest($1::uuid[], $2::uuid[]) AS own (hold_id, holder) ON own.hold_id = h.hold_id AND own.holder = h.holder
    WHERE h.done_at IS NULL ORDER BY h.hold_id FOR UPDATE OF h`;
  await database.query(
    `UPDATE credit_holds SET expires_at = GREATEST(expires_at, now() + make_interval(secs => $3))
     WHERE hold_id IN (${own}) AND expires_at > now()`,
    [[id], [holder], 3600],
  );
  await database.query(
    `UPDATE credit_holds SET expires_at = 'infinity', done_at = now() WHERE hold_id IN (${locked})`,
    [[id]],
  );
  const rows: { kept: boolean }[] = await database.query(
    `SELECT expires_at = 'infinity' AND done_at IS NOT NULL AS kept FROM credit_reservations`,
  );
  expect(rows).toEqual([{ kept: true }]);
  await database.query(`DELETE FROM credit_holds WHERE hold_id IN (${locked})`, [[id]]);
  expect(await amounts()).toEqual([]);
});
