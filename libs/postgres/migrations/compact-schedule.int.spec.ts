import { newId } from '#kernel';
import { isolateStores, type IsolatedStores } from '#testing';
import { openDatabase, type Database } from '../index.js';
import { migrateBesideClaims } from '../testing/migrate-beside-claims.js';
import { CompactSchedule1763900000000 } from './1763900000000-compact-schedule.js';
import { NumberedSchedule1764000000000 } from './1764000000000-numbered-schedule.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  // The tested migration worked on tables that a later migration replaced.
  const runner = database.createQueryRunner();
  await new NumberedSchedule1764000000000().down(runner);
  await runner.release();
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

async function scheduleWatches(searches: number, watchesOfEach: number): Promise<void> {
  await database.query(
    `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
     SELECT 'hackernews:' || n, 'hackernews', 'hackernews:0', json_build_object('market', 'global', 'query', 'term' || n), now()
     FROM generate_series(1, $1) AS n`,
    [searches],
  );
  await database.query(
    `INSERT INTO watch_schedule (watch_id, search_key, account_id, interval_seconds, backfill, baseline_at, covered_until, next_due_at)
     SELECT md5(n || '.' || w)::uuid, 'hackernews:' || n, $3, 60 * w, false, now(), now(), now()
     FROM generate_series(1, $1) AS n, generate_series(1, $2) AS w`,
    [searches, watchesOfEach, newId()],
  );
}

it('the migration waits for a claim that is under way, and later claims wait for the migration', async () => {
  await database.query('TRUNCATE watch_schedule, upstream_searches');
  await scheduleWatches(2, 3);
  await migrateBesideClaims(database, new CompactSchedule1763900000000());
});

it('the migration keeps rows, grants and the reference to the search', async () => {
  await database.query('TRUNCATE watch_schedule, upstream_searches');
  await scheduleWatches(2, 3);
  const content = () =>
    database.query<unknown[]>('SELECT to_jsonb(w) AS row FROM watch_schedule w ORDER BY watch_id');
  const before = await content();
  const migration = new CompactSchedule1763900000000();
  const runner = database.createQueryRunner();
  await migration.down(runner);
  await runner.query('GRANT SELECT ON watch_schedule TO PUBLIC');
  await migration.up(runner);
  await runner.release();
  expect(before.length).toBe(6);
  expect(await content()).toEqual(before);
  expect(
    await database.query(`SELECT has_table_privilege('pg_monitor', 'watch_schedule', 'SELECT') AS granted`),
  ).toEqual([{ granted: true }]);
  await expect(
    database.query(`UPDATE watch_schedule SET search_key = 'no such search'`),
  ).rejects.toMatchObject({
    code: '23503',
  });
  await expect(
    database.query('INSERT INTO watch_schedule SELECT * FROM watch_schedule'),
  ).rejects.toMatchObject({
    code: '23505',
  });
});
