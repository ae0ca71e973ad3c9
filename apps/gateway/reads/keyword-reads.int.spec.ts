import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { isolateStores, type IsolatedStores } from '#testing';
import { KeywordReads } from './keyword-reads.js';

let stores: IsolatedStores;
let database: Database;
let reads: KeywordReads;

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
  reads = new KeywordReads(database);
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

/** Stores a watch without a keyword. @returns the id of the watch */
async function watch(accountId: string): Promise<string> {
  const watchId = newId();
  await database.query(
    `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_mode, analysis,
       backfill, is_active, created_at, updated_at)
     VALUES ($1, $2, 'rss', '{}', 'hash', 600, 'all', true, false, true, now(), now())`,
    [watchId, accountId],
  );
  return watchId;
}

it('the last check of a watch is its stored failed check; without a failed check, it is the last completed check', async () => {
  const accountId = newId();
  const watchId = await watch(accountId);
  const lastCheck = async () => {
    const read = await reads.watch(accountId, 'rss', watchId);
    return [read?.lastStatus, read?.lastCheckedAt];
  };
  expect(await lastCheck()).toEqual([null, null]);
  await database.query(
    `WITH s AS (INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
       VALUES ('rss:x', 'rss', 'rss', '{}', now()) RETURNING search_number),
     a AS (INSERT INTO schedule_accounts (account_id) VALUES ($2) RETURNING account_number)
     INSERT INTO watch_schedule (watch_id, search_number, account_number, interval_seconds, due_second)
     SELECT $1, search_number, account_number, 600, second_of(now()) FROM s, a`,
    [watchId, accountId],
  );
  expect(await lastCheck()).toEqual([null, null]);
  const [earlier, later] = ['2026-03-04T05:06:07.089Z', '2026-03-04T05:16:07.089Z'];
  const setTimes = (failedAt: string | null, coveredUntil: string | null) =>
    database.query('UPDATE watch_schedule SET failed_at = $2, covered_until = $3 WHERE watch_id = $1', [
      watchId,
      failedAt,
      coveredUntil,
    ]);
  await setTimes(earlier, null);
  expect(await lastCheck()).toEqual(['failed', earlier]);
  await setTimes(null, later);
  expect(await lastCheck()).toEqual(['completed', later]);
  await setTimes(later, earlier);
  expect(await lastCheck()).toEqual(['failed', later]);
});

it('pages of watches contain each watch of the account only once, newest first', async () => {
  const accountId = newId();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await watch(accountId));
  await watch(newId());
  const pages: string[] = [];
  for (let before: string | undefined; ;) {
    const found = await reads.watches(accountId, 'rss', 2, before);
    pages.push(...found.slice(0, 2).map((read) => read.watch.watchId));
    if (found.length <= 2) break;
    before = pages.at(-1);
  }
  expect(pages).toEqual(ids.toReversed());
});
