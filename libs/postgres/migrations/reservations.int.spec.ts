import pg from 'pg';
import { newId } from '#kernel';
import { type SpecDatabase, openSpecDatabase } from '#testing';
import type { Database } from '../index.js';
import { Reservations1764100000000 } from './1764100000000-reservations.js';

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());
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

const LOCKED = 'SELECT hold_id FROM credit_holds WHERE hold_id = ANY($1) ORDER BY hold_id FOR UPDATE';
const OWN = `SELECT h.hold_id FROM credit_holds h
  JOIN unnest($1::uuid[], $2::uuid[]) AS own (hold_id, holder) ON own.hold_id = h.hold_id AND own.holder = h.holder
  WHERE h.done_at IS NULL ORDER BY h.hold_id FOR UPDATE OF h`;

/** The statements of the release before the migration, with the table and columns of that release. */
const STATEMENTS = {
  reserve: `INSERT INTO credit_holds AS h (hold_id, account_id, amount, expires_at, holder)
    SELECT DISTINCT ON (hold_id) hold_id, account_id, amount, now() + make_interval(secs => seconds), holder
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::uuid[])
      AS f (hold_id, account_id, amount, seconds, holder)
    ON CONFLICT (hold_id) DO UPDATE SET
      holder = excluded.holder,
      amount = CASE WHEN h.done_at IS NULL THEN excluded.amount ELSE h.amount END,
      expires_at = GREATEST(h.expires_at, excluded.expires_at)`,
  reserved: `SELECT NULL::uuid AS hold_id, account_id, sum(amount)::bigint AS amount FROM credit_holds
    WHERE account_id = ANY($1::uuid[]) AND expires_at > now() GROUP BY account_id
    UNION ALL
    SELECT hold_id, account_id, amount FROM credit_holds
    WHERE hold_id = ANY($2::uuid[]) AND account_id = ANY($1) AND expires_at > now()`,
  extend: `UPDATE credit_holds SET expires_at = GREATEST(expires_at, now() + make_interval(secs => $3))
    WHERE hold_id IN (${OWN}) AND expires_at > now()`,
  keep: `UPDATE credit_holds SET expires_at = 'infinity', done_at = now() WHERE hold_id IN (${LOCKED})`,
  adopt: `INSERT INTO credit_holds (hold_id, account_id, amount, expires_at, done_at)
    SELECT hold_id, account_id, amount, 'infinity', now()
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[]) AS f (hold_id, account_id, amount, charge_id)
    WHERE NOT EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)
    ORDER BY hold_id
    ON CONFLICT (hold_id) DO UPDATE SET expires_at = excluded.expires_at, done_at = excluded.done_at`,
  release: `DELETE FROM credit_holds WHERE hold_id IN (${OWN})`,
  releaseCharged: `DELETE FROM credit_holds h USING unnest($1::uuid[], $2::uuid[]) AS f (hold_id, charge_id)
    WHERE h.hold_id = f.hold_id AND EXISTS (SELECT 1 FROM credit_movements m WHERE m.movement_id = f.charge_id)`,
  settle: `DELETE FROM credit_holds WHERE hold_id IN (${LOCKED})`,
  dropExpired: `DELETE FROM credit_holds WHERE hold_id IN
    (SELECT hold_id FROM credit_holds WHERE expires_at < $1 LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
};

it('replicas of the release before the migration continue to work with the statements that they have prepared', async () => {
  const [account, holder, first, second, third] = [newId(), newId(), newId(), newId(), newId()];
  const migration = new Reservations1764100000000();
  const runner = database.createQueryRunner();
  await migration.down(runner);
  const old = new pg.Client({ connectionString: spec.stores.databaseUrl });
  await old.connect();
  const run = async (name: keyof typeof STATEMENTS, values: unknown[]) =>
    (await old.query({ name, text: STATEMENTS[name], values })).rows as unknown[];
  const reserve = (id: string, amount: number) => run('reserve', [[id], [account], [amount], [60], [holder]]);
  const work = async () => {
    await reserve(first, 3);
    await reserve(first, 4);
    await run('extend', [[first], [holder], 3600]);
    await run('keep', [[first]]);
    await reserve(second, 2);
    await run('adopt', [[third], [account], [5], [newId()]]);
    expect(await run('reserved', [[account], [second]])).toEqual([
      { hold_id: null, account_id: account, amount: 11 },
      { hold_id: second, account_id: account, amount: 2 },
    ]);
    await run('release', [
      [first, second],
      [holder, holder],
    ]);
    await run('releaseCharged', [[third], [newId()]]);
    await run('dropExpired', [new Date()]);
    expect(await run('reserved', [[account], []])).toEqual([
      { hold_id: null, account_id: account, amount: 9 },
    ]);
    await run('settle', [[first, third]]);
    expect(await run('reserved', [[account], []])).toEqual([]);
  };
  try {
    // Postgres can use a general plan from the sixth run of a prepared statement on.
    for (let n = 0; n < 6; n += 1) await work();
    await migration.up(runner);
    for (let n = 0; n < 6; n += 1) await work();
  } finally {
    await old.end();
    await runner.release();
  }
  expect(await amounts()).toEqual([]);
});
