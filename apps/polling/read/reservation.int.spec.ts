import { PRICE_BOOK_VERSION, type Check } from '#contracts';
import { reserve } from '#credits';
import { checkIdOf, isoOf, newId } from '#kernel';
import { fundAccount, until } from '#testing';
import { openPollingStores, Upstream, workerOn, type PollingStores } from '../testing/polling-under-test.js';
import type { Lane } from '../lanes/lane.js';
import { claimDue } from '../due/claim-due.js';
import type { DueSearch } from '../due/due-work.js';
import type { LaneWorker } from '../lanes/lane-worker.js';
import type { PlannedRead } from './read-upstream.js';
import { reserveReads } from './reservation.js';

let stores: PollingStores;
let upstream: Upstream;
let worker: LaneWorker;
let lane: Lane;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  for (const table of ['watch_schedule', 'upstream_searches', 'credit_reservations'])
    await stores.database.query(`DELETE FROM ${table}`);
  upstream = new Upstream();
  ({ worker, lane } = workerOn(upstream, stores));
  worker.start();
});
afterEach(() => worker.stop());

/** Makes the watches due, and waits until each has a check that the tables contain. */
async function tick(...watchIds: string[]): Promise<Check[]> {
  const before = await Promise.all(watchIds.map(async (id) => (await stores.checksOf(id)).length));
  await stores.due(...watchIds);
  const checks = await Promise.all(
    watchIds.map((id, n) =>
      until(`a check of ${id}`, async () => (await stores.checksOf(id))[before[n] ?? 0]),
    ),
  );
  await until('the tables have followed', async () => {
    const rows: { busy: number }[] = await stores.database.query(
      `SELECT count(*)::int AS busy FROM watch_schedule WHERE watch_id = ANY($1) AND time_of(due_second) <= clock_timestamp()`,
      [watchIds],
    );
    return rows[0]?.busy === 0;
  });
  return checks;
}

const outcomeOf = ({ failure, costCredits }: Check) => [failure?.kind ?? 'completed', costCredits];

describe('the maximum cost of a check', () => {
  it('is reserved under the id of the check until the charge settles it', async () => {
    const id = await stores.watch({ credits: 1 });
    const [check] = await tick(id);
    expect(check && outcomeOf(check)).toEqual(['completed', 1]);
    expect(await stores.reservations()).toEqual({ [check?.checkId ?? '']: 1 });
  });

  it('must be available; otherwise the check fails without a request and states the missing credits [keywords.pause-credits]', async () => {
    const accountId = newId();
    const id = await stores.watch({ accountId, credits: 0 });
    const [check] = await tick(id);
    expect(check).toMatchObject({
      costCredits: 0,
      failure: {
        kind: 'insufficient_credits',
        reason:
          'hackernews was not read: the check can cost 1 credit, and 0 of the account’s credits are available',
        creditsNeeded: 1,
      },
    });
    expect([upstream.requests, lane.isProbing, lane.budget.blockedForMs]).toEqual([[], false, 0]);
    expect(await stores.reservations()).toEqual({});
    const rows: { failures: number; baseline_at: Date | null }[] = await stores.database.query(
      'SELECT s.failures, w.baseline_at FROM upstream_searches s JOIN watch_schedule w USING (search_number)',
    );
    expect(rows).toEqual([{ failures: 0, baseline_at: null }]);
    await fundAccount(stores.database, accountId, 1);
    const [next] = await tick(id);
    expect([next?.failure, next?.baseline, upstream.requests.length]).toEqual([undefined, true, 1]);
  });

  it('is not treated as missing while the account has no ledger; its watches are checked when the ledger is open', async () => {
    const accountId = newId();
    const [waiting, alone] = [
      await stores.watch({ accountId }),
      await stores.watch({ accountId, query: 'alone' }),
    ];
    const other = await stores.watch();
    await stores.database.query('DELETE FROM credit_balances WHERE account_id = $1', [accountId]);
    await stores.due(waiting, alone, other);
    await until('the other watch is checked', async () => (await stores.checksOf(other)).length === 1);
    await until('the watches are postponed, and their searches released', async () => {
      const rows: { n: number }[] = await stores.database.query(
        `SELECT count(*)::int AS n FROM watch_schedule w JOIN upstream_searches s USING (search_number)
         WHERE w.watch_id = ANY($1) AND time_of(w.due_second) BETWEEN now() AND now() + interval '5 seconds'
           AND s.leased_until IS NULL AND s.next_due_at > now()`,
        [[waiting, alone]],
      );
      return rows[0]?.n === 2;
    });
    expect([await stores.checksOf(waiting), await stores.checksOf(alone)]).toEqual([[], []]);
    expect(upstream.requests.length).toBe(1);
    await fundAccount(stores.database, accountId, 2);
    expect((await tick(waiting, alone)).map(outcomeOf)).toEqual([
      ['completed', 1],
      ['completed', 1],
    ]);
  });

  it('stays reserved after the check until the check is charged, even if the charge is late', async () => {
    const accountId = newId();
    const id = await stores.watch({ accountId, credits: 1 });
    const [check] = await tick(id);
    await stores.database
      .query(`UPDATE credit_reservations SET expires_at = LEAST(expires_at, now() - interval '1 s')
      WHERE expires_at < 'infinity'`);
    expect((await tick(id)).map(outcomeOf)).toEqual([['insufficient_credits', 0]]);
    expect(await stores.reservations()).toEqual({ [check?.checkId ?? '']: 1 });
  });

  it('is reserved for each watch separately: only the checks of accounts that can pay are completed', async () => {
    const rich = await stores.watch({ credits: 5 });
    const poor = await stores.watch({ credits: 0 });
    const other = await stores.watch({ credits: 0, query: 'other' });
    upstream.publish('hn:1');
    const checks = await tick(rich, poor, other);
    expect(checks.map(outcomeOf)).toEqual([
      ['completed', 1],
      ['insufficient_credits', 0],
      ['insufficient_credits', 0],
    ]);
    expect(upstream.requests.length).toBe(1);
    expect(checks.map(({ rememberedItemIds }) => rememberedItemIds)).toEqual([['hn:1'], [], []]);
  });

  it('is reserved from the last credits for as many checks as these credits cover', async () => {
    const accountId = newId();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await stores.watch({ accountId, credits: 3 }));
    const kinds = (await tick(...ids)).map(({ failure }) => failure?.kind ?? 'completed').sort();
    expect(kinds).toEqual([
      'completed',
      'completed',
      'completed',
      'insufficient_credits',
      'insufficient_credits',
    ]);
    expect(Object.values(await stores.reservations())).toEqual([1, 1, 1]);
  });

  it('is reserved by two concurrent calls without exceeding the balance', async () => {
    const accountId = newId();
    for (const query of ['first', 'second'])
      for (let n = 0; n < 20; n += 1) await stores.watch({ accountId, query, credits: 15 });
    await worker.stop();
    await stores.database.query(
      "UPDATE watch_schedule SET due_second = second_of(now() - interval '1 second')",
    );
    await stores.database.query("UPDATE upstream_searches SET next_due_at = now() - interval '1 second'");
    const searches = await claimDue(stores.database, 'hackernews:0', 10);
    const reserved = await Promise.all(
      searches.map((search) => reserveReads(stores.database, {}, [readOf(search)], new Date())),
    );
    expect(reserved.length).toBe(2);
    const both = reserved.flatMap(({ reads }) => reads);
    expect(watchesIn(both.flatMap((one) => one.searches))).toBe(15);
    expect(both.reduce((sum, { unpaid }) => sum + unpaid.length, 0)).toBe(25);
    expect(Object.keys(await stores.reservations()).length).toBe(15);
  });
});

describe('the price of a check', () => {
  it('is computed once, before the read, even if the source states a higher price later', async () => {
    await worker.stop();
    let pricings = 0;
    upstream.unitsPerCheck = () => (pricings += 1);
    ({ worker } = workerOn(upstream, stores));
    worker.start();
    const id = await stores.watch();
    const [check] = await tick(id);
    expect([check?.units, check?.costCredits, pricings]).toEqual([1, 1, 1]);
    expect(await stores.reservations()).toEqual({ [check?.checkId ?? '']: 1 });
  });

  it('is the accepted quote until the keywords service replaces it by the present price', async () => {
    const accountId = newId();
    const id = await stores.watch({ accountId });
    // A check of this source was free in the older price book.
    await stores.database.query(
      `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_mode,
         analysis, backfill, is_active, created_at, updated_at, credits_per_check, price_book_version)
       VALUES ($1, $2, 'hackernews', '{}', '', 600, 'all', false, false, true, now(), now(), 0, '2026-01-01')`,
      [id, accountId],
    );
    const [check] = await tick(id);
    expect([check?.costCredits, check?.priceBookVersion]).toEqual([0, '2026-01-01']);
    await stores.database.query('UPDATE watches SET credits_per_check = 1, price_book_version = $1', [
      PRICE_BOOK_VERSION,
    ]);
    const [next] = await tick(id);
    expect([next?.costCredits, next?.priceBookVersion]).toEqual([1, PRICE_BOOK_VERSION]);
  });
});

describe('the reservation of a check', () => {
  it('is released when the check fails', async () => {
    upstream.failure = { status: 403 };
    const id = await stores.watch({ credits: 1 });
    expect((await tick(id)).map(outcomeOf)).toEqual([['forbidden', 0]]);
    expect(await stores.reservations()).toEqual({});
    upstream.failure = undefined;
    expect((await tick(id)).map(outcomeOf)).toEqual([['completed', 1]]);
  });

  it('is released when the read is cancelled because the service stops', async () => {
    let open = () => {};
    upstream.gate = new Promise((resolve) => (open = resolve));
    upstream.failure = { status: 500 };
    const id = await stores.watch({ credits: 1 });
    await stores.due(id);
    await until('the read is running', () => upstream.requests.length === 1);
    expect(Object.values(await stores.reservations())).toEqual([1]);
    const stopped = worker.stop();
    open();
    await stopped;
    expect([await stores.reservations(), await stores.checksOf(id)]).toEqual([{}, []]);
  });

  it('is released if the service stops before the read has begun', async () => {
    await worker.stop();
    upstream.requestsPerMinute = 6;
    ({ worker } = workerOn(upstream, stores));
    const accountId = newId();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await stores.watch({ accountId, query: `q${n}` }));
    await stores.due(...ids);
    worker.start();
    const reservedCount = () =>
      stores.reservations().then((reservations) => Object.keys(reservations).length);
    await until('all of them have a reservation', async () => (await reservedCount()) === 5);
    await until('one is read', async () => {
      const checks = await Promise.all(ids.map((id) => stores.checksOf(id)));
      return checks.flat().length === 1;
    });
    await worker.stop();
    expect(await reservedCount()).toBe(1);
  });

  it('is used after a crash by the next attempt at the same tick', async () => {
    const accountId = newId();
    const id = await stores.watch({ accountId, credits: 1 });
    await worker.stop();
    await stores.due(id);
    const reservationId = checkIdOf(id, isoOf(await dueAtOf(id)));
    await reserve(stores.database, [{ reservationId, accountId, credits: 1, lifetimeSeconds: 600 }]);
    ({ worker } = workerOn(upstream, stores));
    worker.start();
    const check = await until('the check', async () => (await stores.checksOf(id))[0]);
    expect([check.checkId, outcomeOf(check)]).toEqual([reservationId, ['completed', 1]]);
  });

  it('does not keep credits reserved after it has expired', async () => {
    const accountId = newId();
    const id = await stores.watch({ accountId, credits: 1 });
    await reserve(stores.database, [{ reservationId: newId(), accountId, credits: 1, lifetimeSeconds: 600 }]);
    expect((await tick(id)).map(outcomeOf)).toEqual([['insufficient_credits', 0]]);
    await stores.database.query(`UPDATE credit_reservations SET expires_at = now() - interval '1 second'`);
    expect((await tick(id)).map(outcomeOf)).toEqual([['completed', 1]]);
  });
});

const readOf = (search: DueSearch): PlannedRead => ({
  searches: [search],
  fromFeed: false,
  run: () => Promise.resolve([]),
});

const watchesIn = (searches: readonly DueSearch[]) =>
  searches.reduce((sum, { watches }) => sum + watches.length, 0);

async function dueAtOf(watchId: string): Promise<Date> {
  const rows: { next_due_at: Date }[] = await stores.database.query(
    'SELECT time_of(due_second) AS next_due_at FROM watch_schedule WHERE watch_id = $1',
    [watchId],
  );
  return rows[0]?.next_due_at ?? new Date(0);
}
