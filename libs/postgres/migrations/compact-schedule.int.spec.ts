import type { QueryRunner } from 'typeorm';
import { newId } from '#kernel';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { openDatabase, type Database } from '../index.js';
import { CompactSchedule1763900000000 } from './1763900000000-compact-schedule.js';
import { NumberedSchedule1764000000000 } from './1764000000000-numbered-schedule.js';

let stores: IsolatedStores;
let database: Database;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  // This migration worked on tables that a later migration replaced.
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

it('the migration waits for a claim that is under way, and then runs beside pollers that wait for it', async () => {
  await database.query('TRUNCATE watch_schedule, upstream_searches');
  await scheduleWatches(2, 3);
  const migration = new CompactSchedule1763900000000();
  const [migrating, claiming] = [database.createQueryRunner(), database.createQueryRunner()];
  await migration.down(migrating);

  // Searches first, then the schedule: the order of a claim.
  await claiming.startTransaction();
  await claiming.query('UPDATE upstream_searches SET next_due_at = now()');
  await migrating.startTransaction();
  const migrated = migration.up(migrating);
  await until('the migration waits', () => isWaiting(migrating));
  await claiming.query('SELECT count(*) FROM watch_schedule');
  await claiming.commitTransaction();
  await migrated;

  const later = claiming.query('UPDATE upstream_searches SET next_due_at = now()');
  await until('a later claim waits', () => isWaiting(claiming));
  await migrating.commitTransaction();
  await later;
  await Promise.all([migrating.release(), claiming.release()]);
});

/** Whether the connection of a runner waits for a lock. */
async function isWaiting(runner: QueryRunner): Promise<boolean> {
  const { processID } = (await runner.connect()) as { processID: number };
  const [row]: { waits: boolean }[] = await database.query(
    `SELECT wait_event_type = 'Lock' AS waits FROM pg_stat_activity WHERE pid = $1`,
    [processID],
  );
  return row?.waits === true;
}

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
