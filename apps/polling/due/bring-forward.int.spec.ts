import { until } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from '../testing/polling-under-test.js';
import { bringForwardFar } from './bring-forward.js';
import { claimDue } from './claim-due.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  await stores.database.query('DELETE FROM watch_schedule');
  await stores.database.query('DELETE FROM upstream_searches');
});

/** Claims all due searches, and returns the ids of their due watches. */
async function dueWatches(): Promise<string[]> {
  const due = await claimDue(stores.database, 'hackernews:0', 10);
  return due.flatMap(({ watches }) => watches.map(({ watchId }) => watchId));
}

/** Sets the next check of a watch with an interval of a minute. */
async function watchDueIn(query: string, minutes: number): Promise<string> {
  const watchId = await stores.watch({ query, intervalSeconds: 60 });
  await stores.database.query(
    `WITH w AS (UPDATE watch_schedule SET due_second = second_of(now() + make_interval(mins => $2)) WHERE watch_id = $1
       RETURNING search_number, time_of(due_second) AS due)
     UPDATE upstream_searches s SET next_due_at = w.due FROM w WHERE s.search_number = w.search_number`,
    [watchId, minutes],
  );
  return watchId;
}

it('a watch is due again after the clock was set back by an hour, and the next check of other watches stays', async () => {
  const far = await watchDueIn('far', 60);
  await watchDueIn('near', 1);
  await bringForwardFar(stores.database, new Date());
  expect(await dueWatches()).toEqual([far]);
});

it('a watch is not checked more often if the clock of polling stays ahead of that of Postgres', async () => {
  await watchDueIn('ahead', 60);
  await bringForwardFar(stores.database, new Date(Date.now() + 3_600_000));
  expect(await dueWatches()).toEqual([]);
});

it('a watch whose source asked to wait two hours is not due earlier', async () => {
  const watchId = await stores.watch({ query: 'waits', intervalSeconds: 60 });
  const upstream = new Upstream();
  upstream.failure = { status: 429, headers: { 'retry-after': '7200' } };
  const { worker } = workerOn(upstream, stores);
  worker.start();
  await stores.due(watchId);
  await until('the failed check', async () => (await stores.checksOf(watchId))[0]);
  await worker.stop();
  await bringForwardFar(stores.database, new Date());
  expect(await dueWatches()).toEqual([]);
  // The clock was ahead by an hour at this check, and was set back.
  await stores.database.query(`UPDATE watch_schedule SET failed_at = failed_at + interval '1 hour'`);
  await bringForwardFar(stores.database, new Date());
  expect(await dueWatches()).toEqual([watchId]);
});

it('a watch is not due again if its check is recorded while another replica corrects the due time of the watch', async () => {
  await watchDueIn('far', 60);
  let corrected: Promise<void> | undefined;
  await stores.database.transaction(async (tx) => {
    await tx.query('SELECT 1 FROM upstream_searches FOR UPDATE');
    corrected = bringForwardFar(stores.database, new Date());
    await until('the other replica waits for the lock', async () => {
      const waiting: unknown[] = await stores.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await tx.query(`UPDATE watch_schedule SET due_second = second_of(now() + interval '1 minute')`);
    await tx.query(`UPDATE upstream_searches SET next_due_at = now() + interval '1 minute'`);
  });
  await corrected;
  expect(await dueWatches()).toEqual([]);
});
