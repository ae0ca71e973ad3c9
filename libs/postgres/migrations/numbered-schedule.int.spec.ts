import type { QueryRunner } from 'typeorm';
import { newId } from '#kernel';
import { type SpecDatabase, openSpecDatabase } from '#testing';
import type { Database } from '../index.js';
import { migrateBesideClaims } from '../testing/migrate-beside-claims.js';
import { NumberedSchedule1764000000000 } from './1764000000000-numbered-schedule.js';

const migration = new NumberedSchedule1764000000000();

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());
beforeEach(() => database.query('TRUNCATE watch_schedule, upstream_searches, schedule_accounts'));

/** Stores searches of one account and their watches, in the form of the present release. */
async function scheduleWatches(searches: number, watchesOfEach: number): Promise<void> {
  const [account]: { account_number: number }[] = await database.query(
    'INSERT INTO schedule_accounts (account_id) VALUES ($1) RETURNING account_number',
    [newId()],
  );
  await database.query(
    `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
     SELECT 'hackernews:' || n, 'hackernews', 'hackernews:0', json_build_object('market', 'global', 'query', 'term' || n), now()
     FROM generate_series(1, $1) AS n`,
    [searches],
  );
  await database.query(
    `INSERT INTO watch_schedule (watch_id, search_number, account_number, interval_seconds, baseline_at, covered_until, due_second)
     SELECT md5(s.search_key || '.' || w)::uuid, s.search_number, $2, 60 * w, now(), now(), second_of(now())
     FROM upstream_searches s, generate_series(1, $1) AS w ORDER BY s.search_number`,
    [watchesOfEach, account?.account_number],
  );
}

/** Reverts the migration, and runs work on the tables of the release before it. */
async function beforeMigration(work: (runner: QueryRunner) => Promise<void>): Promise<void> {
  const runner = database.createQueryRunner();
  try {
    await migration.down(runner);
    await work(runner);
  } finally {
    await runner.release();
  }
}

it('a watch with its indexes and a tenth of a search takes at most 185 bytes', async () => {
  await scheduleWatches(2_000, 10);
  const [row]: { bytes: number }[] = await database.query(
    `SELECT ((pg_total_relation_size('watch_schedule') + pg_total_relation_size('upstream_searches')
       + pg_total_relation_size('schedule_accounts')) / 20000)::int AS bytes`,
  );
  expect(row?.bytes).toBeLessThanOrEqual(185);
});

it('a check, a pause and a resume change no index of their watch', async () => {
  await scheduleWatches(1, 1);
  await database.query('UPDATE watch_schedule SET check_seq = 5, covered_until = now()');
  await database.transaction(async (tx) => {
    await tx.query('UPDATE watch_schedule SET due_second = second_of(now()), check_seq = check_seq + 1');
    await tx.query('UPDATE watch_schedule SET failed_at = now()');
    await tx.query('UPDATE watch_schedule SET stopped = true');
    await tx.query('UPDATE watch_schedule SET stopped = NULL');
    const [counted] = await tx.query<{ changes: number; inPlace: number }[]>(
      `SELECT pg_stat_get_xact_tuples_updated('watch_schedule'::regclass)::int AS changes,
         pg_stat_get_xact_tuples_hot_updated('watch_schedule'::regclass)::int AS "inPlace"`,
    );
    expect(counted?.changes).toBeGreaterThan(0);
    expect(counted?.inPlace).toBe(counted?.changes);
  });
});

it('the migration keeps the values of searches and watches, in both directions', async () => {
  const [claimed, free] = [newId(), newId()];
  await beforeMigration(async (runner) => {
    await runner.query(
      `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at, leased_until, state, state_at, failures, claim)
       VALUES ('rss:claimed', 'rss', 'rss:1', '{"query": "a"}', 'infinity', '2030-01-01', '{"etag": "x"}', '2026-03-01', 3, $1),
         ('rss:free', 'rss', 'rss:0', '{}', '2026-03-02', 'epoch', '{}', NULL, 0, NULL)`,
      [newId()],
    );
    await runner.query(
      `INSERT INTO watch_schedule (watch_id, search_key, account_id, keyword_id, search_id, interval_seconds, backfill, baseline_at,
         covered_until, is_active, disabled, next_due_at, check_seq, last_checked_at, last_status, traceparent)
       VALUES ($1, 'rss:claimed', $3, $3, $3, 60, true, '2026-03-01 10:00:00.123', '2026-03-01 11:00:00.456', false, true,
           '2026-03-01 12:00:00', 7, '2026-03-01 11:00:01.5', 'failed', NULL),
         ($2, 'rss:claimed', $3, NULL, NULL, 600, false, '2026-03-01', '2026-03-01', true, false, '2026-03-02', 8, '2026-03-01', 'completed', NULL),
         ($4, 'rss:free', $4, NULL, NULL, 600, false, NULL, NULL, true, false, '2026-03-02', 0, NULL, NULL, '00-trace')`,
      [claimed, newId(), newId(), free],
    );
    const content = async () => [
      await runner.query('SELECT to_jsonb(s) AS row FROM upstream_searches s ORDER BY search_key'),
      await runner.query('SELECT to_jsonb(w) AS row FROM watch_schedule w ORDER BY watch_id'),
    ];
    const before = await content();
    await migration.up(runner);
    expect(
      await runner.query(
        `SELECT s.search_key, a.account_id, w.baseline_at = '2026-03-01 10:00:00.123' AS exact, w.failed_at,
           w.backfill, w.stopped, w.disabled
         FROM watch_schedule w JOIN upstream_searches s USING (search_number) JOIN schedule_accounts a USING (account_number)
         WHERE w.watch_id = ANY($1) ORDER BY s.search_key`,
        [[claimed, free]],
      ),
    ).toEqual([
      {
        ...{ search_key: 'rss:claimed', account_id: expect.any(String), exact: true },
        ...{ failed_at: expect.any(Date), backfill: true, stopped: true, disabled: true },
      },
      {
        ...{ search_key: 'rss:free', account_id: free, exact: null },
        ...{ failed_at: null, backfill: null, stopped: null, disabled: null },
      },
    ]);
    expect(
      await runner.query(
        'SELECT leased_until, state FROM upstream_searches ORDER BY search_key DESC LIMIT 1',
      ),
    ).toEqual([{ leased_until: null, state: null }]);
    await migration.down(runner);
    expect(await content()).toEqual(before);
    await migration.up(runner);
  });
});

it('the migration rounds a due time up to a whole second, and drops the time at which a completed check ended', async () => {
  await scheduleWatches(1, 1);
  await beforeMigration(async (runner) => {
    await runner.query(
      `UPDATE watch_schedule SET next_due_at = '2026-03-01 12:00:00.001', covered_until = '2026-03-01 11:00:00.456',
         last_checked_at = '2026-03-01 11:00:01', last_status = 'completed'`,
    );
    await migration.up(runner);
  });
  expect(
    await database.query(
      `SELECT time_of(due_second) = '2026-03-01 12:00:01' AS up, covered_until = '2026-03-01 11:00:00.456' AS exact, failed_at
       FROM watch_schedule`,
    ),
  ).toEqual([{ up: true, exact: true, failed_at: null }]);
});

it('second_of rounds times down to whole seconds until 2068, and flags can only be true or null', async () => {
  expect(
    await database.query(
      `SELECT second_of('2000-01-01 00:00:00Z') AS zero, second_of('2026-03-04 12:00:00.999Z') = second_of('2026-03-04 12:00:00Z') AS down,
         time_of(second_of('2068-01-19 00:00:00.5Z')) = '2068-01-19 00:00:00Z' AS late, time_of(NULL) AS none`,
    ),
  ).toEqual([{ zero: 0, down: true, late: true, none: null }]);
  await scheduleWatches(1, 1);
  for (const flag of ['backfill', 'stopped', 'disabled'])
    await expect(database.query(`UPDATE watch_schedule SET ${flag} = false`)).rejects.toMatchObject({
      code: '23514',
    });
});

it('the migration keeps grants, and the reference of a watch to its search', async () => {
  await scheduleWatches(2, 3);
  await beforeMigration(async (runner) => {
    for (const table of ['watch_schedule', 'upstream_searches'])
      await runner.query(`GRANT SELECT ON ${table} TO PUBLIC`);
    await migration.up(runner);
  });
  for (const table of ['watch_schedule', 'upstream_searches', 'schedule_accounts'])
    expect(
      await database.query(`SELECT has_table_privilege('pg_monitor', $1, 'SELECT') AS granted`, [table]),
    ).toEqual([{ granted: true }]);
  await expect(database.query('UPDATE watch_schedule SET search_number = 999999')).rejects.toMatchObject({
    code: '23503',
  });
  await expect(
    database.query('INSERT INTO watch_schedule SELECT * FROM watch_schedule'),
  ).rejects.toMatchObject({ code: '23505' });
});

it('new searches and accounts get free numbers after the migration', async () => {
  await scheduleWatches(3, 1);
  await beforeMigration((runner) => migration.up(runner));
  await database.query(
    `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at) VALUES ('rss:new', 'rss', 'rss:0', '{}', now())`,
  );
  await database.query('INSERT INTO schedule_accounts (account_id) VALUES ($1)', [newId()]);
  expect(
    await database.query(
      `SELECT (SELECT count(DISTINCT search_number)::int FROM upstream_searches) AS searches,
         (SELECT count(DISTINCT account_number)::int FROM schedule_accounts) AS accounts`,
    ),
  ).toEqual([{ searches: 4, accounts: 2 }]);
});

it('the statements of a replica of the previous release fail after the migration, and change nothing', async () => {
  await scheduleWatches(1, 1);
  const content = () => database.query<unknown[]>('SELECT * FROM watch_schedule');
  const before = await content();
  for (const statement of [
    `SELECT * FROM watch_schedule WHERE search_key = ANY('{hackernews:1}') AND is_active AND next_due_at <= now()`,
    `INSERT INTO watch_schedule (watch_id, search_key, account_id, interval_seconds, backfill, next_due_at)
     SELECT gen_random_uuid(), 'hackernews:1', gen_random_uuid(), 60, false, now()`,
    `UPDATE watch_schedule SET next_due_at = now(), last_status = COALESCE('completed', last_status)`,
  ])
    await expect(database.query(statement)).rejects.toMatchObject({ code: '42703' });
  expect(await content()).toEqual(before);
});

it('the migration waits for a claim that is under way, and later claims wait for the migration', async () => {
  await scheduleWatches(2, 3);
  await migrateBesideClaims(database, migration);
});
