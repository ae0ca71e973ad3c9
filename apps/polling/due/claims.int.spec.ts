import { fakeOnly, until } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from '../testing/polling-under-test.js';
import { unschedule } from '../projections/schedule.projection.js';
import { failedCheck } from '../record/build-checks.js';
import { CheckRecorder } from '../record/check-recorder.js';
import { dueLanes } from './due-lanes.js';
import { claimDue } from './claim-due.js';
import { extendSearches, releaseLane, releaseSearches, settleIdle } from './due-work.js';
import type { LaneWorker } from '../lanes/lane-worker.js';
import type { Database } from '#postgres';
import { UpstreamError } from '#sources';

const LANE = 'hackernews:0';
/** One query more than the lane can read at the same time. */
const QUERIES = ['a', 'b', 'c', 'd', 'e'];

let stores: PollingStores;
let upstream: Upstream;
let worker: LaneWorker;
let open: () => void;
let successor: ReturnType<typeof gatedWorker>;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  for (const table of ['watch_schedule', 'upstream_searches', 'credit_reservations'])
    await stores.database.query(`DELETE FROM ${table}`);
  ({ upstream, worker, open } = gatedWorker());
  successor = gatedWorker();
});
afterEach(async () => {
  jest.restoreAllMocks();
  jest.useRealTimers();
  open();
  successor.open();
  await Promise.all([worker.stop(), successor.worker.stop()]);
});

/** Returns a worker on the lane, and its upstream, which responds only after `open`. */
function gatedWorker() {
  const gated = new Upstream();
  let openGate = () => {};
  gated.gate = new Promise((resolve) => (openGate = resolve));
  return { upstream: gated, worker: workerOn(gated, stores).worker, open: () => openGate() };
}

/** Returns the remaining seconds of each claim and of each reservation; 0 if it has ended. */
async function secondsLeft(): Promise<number[]> {
  const rows: { seconds: number }[] = await stores.database.query(
    `SELECT extract(epoch FROM leased_until - now())::float8 AS seconds FROM upstream_searches
     UNION ALL SELECT extract(epoch FROM expires_at - now())::float8 FROM credit_reservations`,
  );
  return rows.map(({ seconds }) => Math.max(0, Math.ceil(seconds)));
}

/** Returns whether the check of the watch was recorded and the next check is scheduled. */
const isMoved = async (watchId: string) => {
  const rows: { moved: boolean }[] = await stores.database.query(
    'SELECT time_of(due_second) > clock_timestamp() AS moved FROM watch_schedule WHERE watch_id = $1',
    [watchId],
  );
  return rows[0]?.moved;
};

/**
 * Makes statements of Postgres fail.
 * @param times how many times the statements that contain this text fail
 * @param after if given, the failures begin only after a statement that contains this text, and Postgres still executes
 * each statement that fails
 * @returns a function that returns how many failures remain for each key of `times`
 */
function outages(times: Record<string, number>, after?: string): () => number[] {
  const left = new Map(Object.entries(times));
  const runners = Object.getPrototypeOf(stores.database.createQueryRunner()) as {
    query(sql: string, ...more: unknown[]): Promise<unknown>;
  };
  const query = runners.query;
  let hasSeen = after === undefined;
  jest.spyOn(runners, 'query').mockImplementation(async function (this: unknown, sql, ...more) {
    hasSeen ||= sql.includes(after ?? '');
    const words = hasSeen ? [...left.keys()].find((key) => sql.includes(key) && left.get(key)) : undefined;
    if (words === undefined) return query.call(this, sql, ...more);
    left.set(words, (left.get(words) ?? 0) - 1);
    if (after !== undefined) await query.call(this, sql, ...more);
    throw new Error('Connection terminated unexpectedly');
  });
  return () => [...left.values()];
}

describe('a claim that another claim has replaced', () => {
  it("does not release the searches and the credits of the lane's new holder", async () => {
    // Four searches are being read, and the worker claims nothing more while the fifth waits. So the worker seems
    // stalled.
    const ids = await Promise.all(QUERIES.map((query) => stores.watch({ query, credits: 1 })));
    await stores.due(...ids);
    worker.start();
    await until('the first worker sends its requests', () => upstream.requests.length === 4);
    successor.worker.start();
    await until('the second worker sends its requests', () => successor.upstream.requests.length === 4);
    upstream.failure = { status: 500 };
    const stopped = worker.stop();
    open();
    await stopped;
    expect((await secondsLeft()).filter((seconds) => seconds > 500)).toHaveLength(10);
    successor.open();
    for (const id of ids) await until('the check is recorded', () => isMoved(id));
    const checks = (await Promise.all(ids.map((id) => stores.checksOf(id)))).flat();
    expect(checks.map(({ failure, costCredits }) => [failure, costCredits])).toEqual(
      ids.map(() => [undefined, 1]),
    );
    expect(successor.upstream.requests).toHaveLength(5);
  });

  it('does not end the newer claim if its own reads fail', async () => {
    const id = await stores.watch();
    await stores.due(id);
    const before = await claimDue(stores.database, LANE, 10);
    await releaseLane(stores.database, LANE);
    await extendSearches(stores.database, before);
    expect(await secondsLeft()).toEqual([0]);
    const now = await claimDue(stores.database, LANE, 10);
    await releaseSearches(stores.database, before);
    await settleIdle(stores.database, before);
    const recorder = new CheckRecorder(stores.database, stores.store, () => Date.now());
    const record = (claimed: typeof now) =>
      recorder.record(
        claimed.flatMap((search) =>
          search.watches.map((watch) => ({
            search,
            watch,
            parts: () => [
              failedCheck(search, watch, new UpstreamError('timeout', 'late'), undefined, new Date()),
            ],
          })),
        ),
        [],
        true,
      );
    await record(before);
    expect((await secondsLeft()).every((seconds) => seconds > 500)).toBe(true);
    await record(now);
    expect(await secondsLeft()).toEqual([0]);
    expect(await stores.checksOf(id)).toHaveLength(1);
  });
});

describe('a claim', () => {
  it('is extended together with its reservations as long as its reads wait or run', async () => {
    jest.useFakeTimers(fakeOnly('setInterval', 'clearInterval'));
    const ids = await Promise.all(QUERIES.map((query) => stores.watch({ query })));
    await stores.due(...ids);
    worker.start();
    await until('four reads run, one waits', async () => {
      return upstream.requests.length === 4 && (await secondsLeft()).filter(Boolean).length === 10;
    });
    await stores.database.query(`UPDATE upstream_searches SET leased_until = now() + interval '1 minute'`);
    await stores.database.query(`UPDATE credit_reservations SET expires_at = now() + interval '1 minute'`);
    jest.advanceTimersByTime(60_000);
    await until('all of them last longer', async () =>
      (await secondsLeft()).every((seconds) => seconds > 500),
    );
    open();
    for (const id of ids) await until('the check is recorded', () => isMoved(id));
    const rows: unknown[] = await stores.database.query(
      'SELECT 1 FROM upstream_searches WHERE leased_until > now()',
    );
    expect(rows).toEqual([]);
  });

  it.each([
    ['the worker queries the watches', 'FROM watch_schedule w JOIN schedule_accounts', undefined],
    ['the worker commits the claim, although the commit succeeds', 'COMMIT', 'SET leased_until = now()'],
    ['the worker reserves credits', 'AS amount, false AS done', undefined],
  ])('is released if Postgres fails while %s', async (_, statement, after) => {
    const id = await stores.watch();
    await stores.due(id);
    const left = outages({ [statement]: 2 }, after);
    open();
    worker.start();
    await until('the check is recorded', () => isMoved(id));
    expect([left(), upstream.requests.length]).toEqual([[0], 1]);
  });

  it('is released later if the first release fails, and reads that were not recorded are repeated', async () => {
    const id = await stores.watch();
    await stores.due(id);
    const left = outages({
      'UPDATE watch_schedule w': 1,
      'SET leased_until = NULL, claim = NULL WHERE search_key': 3,
    });
    open();
    worker.start();
    await until('the check is recorded', () => isMoved(id));
    expect([left(), (await stores.checksOf(id)).length]).toEqual([[0, 0], 1]);
  });

  it('is released if Postgres fails while a waiting lane records its failed checks', async () => {
    const [first, second] = [await stores.watch({ query: 'first' }), await stores.watch({ query: 'second' })];
    upstream.failure = { status: 429, headers: { 'retry-after': '3600' } };
    open();
    worker.start();
    await stores.due(first);
    await until('the lane waits', () => isMoved(first));
    const left = outages({ 'UPDATE watch_schedule w': 1 });
    await stores.due(second);
    await until('the other check is recorded', () => isMoved(second));
    const kinds = (await stores.checksOf(second)).map(({ failure }) => failure?.kind);
    expect([left(), kinds, upstream.requests.length]).toEqual([[0], ['rate_limited'], 1]);
  });

  it('ends, if its holder has died, before the next holder of the lane claims searches', async () => {
    const id = await stores.watch();
    await stores.due(id);
    await claimDue(stores.database, LANE, 10);
    const left = outages({ 'SET leased_until = NULL, claim = NULL WHERE lane = $1': 3 });
    open();
    worker.start();
    await until('the check is recorded', () => isMoved(id));
    expect(left()).toEqual([0]);
  });
});

describe('a check', () => {
  it('is not stored and costs nothing if its watch was purged during the read', async () => {
    const [purged, other] = [await stores.watch(), await stores.watch()];
    worker.start();
    await stores.due(purged, other);
    await until('the read is running', () => upstream.requests.length === 1);
    await stores.database.transaction((tx) => unschedule(tx, 'watch_id', purged));
    open();
    await until('the other check is recorded', () => isMoved(other));
    const [check] = await stores.checksOf(other);
    expect([await stores.checksOf(purged), await stores.reservations()]).toEqual([
      [],
      { [check?.checkId ?? '']: 1 },
    ]);
  });

  it('is made only after its watch resumes if the watch is paused after the claim', async () => {
    const watches = await Promise.all(QUERIES.map((query) => stores.watch({ query })));
    worker.start();
    await stores.due(...watches);
    await until('one read waits behind the running ones', async () => {
      const claimed = await secondsLeft();
      return upstream.requests.length === 4 && claimed.filter((seconds) => seconds > 0).length === 10;
    });
    for (const watchId of watches) await stores.change(watchId, { isActive: false });
    open();
    await until('everything is released', async () =>
      (await secondsLeft()).every((seconds) => seconds === 0),
    );
    expect(upstream.requests.length).toBe(4);
    expect([
      (await Promise.all(watches.map((id) => stores.checksOf(id)))).flat(),
      await stores.reservations(),
    ]).toEqual([[], {}]);
    for (const watchId of watches) await stores.change(watchId, { isActive: true });
    await until('each check is recorded', async () =>
      (await Promise.all(watches.map(isMoved))).every(Boolean),
    );
  });
});

it('the query for due lanes reads one search of each lane, even if all searches are due after a pause', async () => {
  const lanes = Array.from({ length: 10 }, (_, n) => `reddit:${n}`);
  const rowsRead = await stores.database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
       SELECT lane || n, 'reddit', lane, '{}', now() + interval '1 hour' FROM unnest($1::text[]) AS lane, generate_series(1, 500) AS n`,
      [lanes],
    );
    // The query plan of Postgres is from before the pause, when nearly nothing was due.
    await tx.query('ANALYZE upstream_searches');
    await tx.query(`UPDATE upstream_searches SET next_due_at = now() - interval '1 minute'`);
    const count = async () => {
      const [row] = await tx.query<{ n: number }[]>(
        `SELECT idx_tup_fetch + seq_tup_read AS n FROM pg_stat_xact_user_tables WHERE relname = 'upstream_searches'`,
      );
      return row!.n;
    };
    const before = await count();
    const due = dueLanes(tx as unknown as Database);
    expect(await Promise.all([...lanes, 'other:0'].map((lane) => due.has(lane)))).toEqual([
      ...lanes.map(() => true),
      false,
    ]);
    return (await count()) - before;
  });
  expect(rowsRead).toBe(lanes.length);
});
