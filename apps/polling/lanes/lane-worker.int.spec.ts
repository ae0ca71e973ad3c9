import { toBinary } from '@bufbuild/protobuf';
import { CheckSchema, type Check } from '#contracts';
import { newId } from '#kernel';
import { subjectOf } from '#messaging';
import { buildItem } from '#sources';
import { until } from '#testing';
import {
  openPollingStores,
  priced,
  Upstream,
  workerOn,
  type PollingStores,
} from '../testing/polling-under-test.js';
import { completedCheck } from '../record/build-checks.js';
import { claimDue } from '../due/due-work.js';
import type { LaneWorker } from './lane-worker.js';

let stores: PollingStores;
let upstream: Upstream;
let worker: LaneWorker;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  await stores.database.query('DELETE FROM watch_schedule');
  await stores.database.query('DELETE FROM upstream_searches');
  upstream = new Upstream();
  worker = workerOn(upstream, stores).worker;
  worker.start();
});
afterEach(() => worker.stop());

const idsOf = (check: Check | undefined) => check?.items.map(({ item }) => item?.itemId);

/** Makes the watches due and waits for the check of each. */
async function tick(...watchIds: string[]): Promise<Check[]> {
  const before = await Promise.all(watchIds.map(async (id) => (await stores.checksOf(id)).length));
  await stores.due(...watchIds);
  return Promise.all(
    watchIds.map((id, n) =>
      until(`a check of ${id}`, async () => (await stores.checksOf(id))[before[n] ?? 0]),
    ),
  );
}

/** Waits until the tables contain everything that is in the streams. */
async function settled(...watchIds: string[]): Promise<void> {
  await until('the tables have followed', async () => {
    const rows: { busy: number }[] = await stores.database.query(
      `SELECT count(*)::int AS busy FROM watch_schedule WHERE watch_id = ANY($1) AND next_due_at <= clock_timestamp()`,
      [watchIds],
    );
    return rows[0]?.busy === 0;
  });
}

describe('the work on a lane', () => {
  it('begins with a silent baseline, and then reports each new item once [keywords.baseline]', async () => {
    upstream.publish('hn:1');
    const id = await stores.watch();
    const [baseline] = await tick(id);
    await settled(id);
    expect([baseline?.baseline, idsOf(baseline), baseline?.rememberedItemIds]).toEqual([true, [], ['hn:1']]);
    upstream.publish('hn:2');
    const [second] = await tick(id);
    await settled(id);
    expect([second?.baseline, idsOf(second)]).toEqual([false, ['hn:2']]);
    const [third] = await tick(id);
    expect(idsOf(third)).toEqual([]);
  });

  it('never reports an item that was published before the baseline, even if a later read is the first to return it', async () => {
    const ids = [await stores.watch(), await stores.watch({ backfill: true })];
    // A time in whole seconds counts as the last millisecond of its second, so it must be at least that old.
    const before = new Date(Date.now() - 1000).toISOString();
    await tick(...ids);
    await settled(...ids);
    upstream.publish('hn:late', 'acme', before);
    upstream.publish('hn:new');
    const [silent, filled] = await tick(...ids);
    const marks = (check: Check | undefined) =>
      check?.items.map(({ item, backfilled }) => [item?.itemId, backfilled]);
    expect(marks(silent)).toEqual([['hn:new', false]]);
    expect(silent?.rememberedItemIds).toEqual(['hn:late']);
    expect(marks(filled)).toEqual([
      ['hn:new', false],
      ['hn:late', true],
    ]);
  });

  it('reads the upstream once for the same search of two accounts, and makes a check for each', async () => {
    const ids = [
      await stores.watch(),
      await stores.watch({ backfill: true }),
      await stores.watch({ query: 'other' }),
    ];
    upstream.publish('hn:1');
    const [silent, filled, other] = await tick(...ids);
    expect(upstream.requests.length).toBe(2);
    expect([idsOf(silent), idsOf(filled), idsOf(other)]).toEqual([[], ['hn:1'], []]);
    expect(new Set([silent?.accountId, filled?.accountId, other?.accountId]).size).toBe(3);
    expect([silent?.costCredits, filled?.costCredits]).toEqual([1, 1]);
    expect(silent?.checkId).not.toBe(filled?.checkId);
  });

  it('records how the items were matched: by whole words when the source has no search of its own', async () => {
    const modeOf = async (hasSearch: boolean) => {
      await worker.stop();
      upstream.hasSearch = hasSearch;
      worker = workerOn(upstream, stores).worker;
      worker.start();
      const id = await stores.watch({ match: 'platform', backfill: true });
      const [check] = await tick(id);
      await settled(id);
      return { mode: check?.matchMode, found: idsOf(check) };
    };
    upstream.publish('hn:1');
    upstream.publish('hn:2', 'acmeology');
    expect(await modeOf(true)).toEqual({ mode: 'platform', found: ['hn:2', 'hn:1'] });
    expect(await modeOf(false)).toEqual({ mode: 'word', found: ['hn:1'] });
  });

  it('reads for other accounts while all servers of one account are slow, and reads those servers in the end', async () => {
    await worker.stop();
    let answer = () => {};
    upstream.slowServers = new Promise((resolve) => (answer = resolve));
    worker = workerOn(upstream, stores).worker;
    worker.start();
    const accountId = newId();
    const slow: string[] = [];
    for (let n = 0; n < 30; n++) slow.push(await stores.watch({ accountId, query: `slow ${n}` }));
    const quick = await stores.watch({ query: 'quick' });
    await stores.due(...slow);
    await until('the lane is full', async () => upstream.states.length >= 4);
    await stores.due(...slow, quick);
    await until('a check of the other account', async () => (await stores.checksOf(quick))[0]);
    // 16 reads that have become slow, and those that four places started meanwhile.
    expect(upstream.states.length - 1).toBeLessThanOrEqual(20);
    answer();
    for (const id of slow) await until('a check of each', async () => (await stores.checksOf(id))[0], 30_000);
  });

  it('reports an item with a title and an id of 600 KB to every waiting watch', async () => {
    const huge = 'x'.repeat(600_000);
    const ids = [await stores.watch({ backfill: true }), await stores.watch({ backfill: true })];
    upstream.items.push(
      buildItem('hackernews', {
        itemId: `hn:${huge}`,
        eventType: 'hn_item.created',
        kind: 'story',
        url: 'https://example.org/',
        title: huge,
        text: 'all about acme',
        body: { id: huge },
      }),
    );
    for (const check of await tick(...ids)) expect(check.items[0]?.item?.truncated).toBe(true);
    await settled(...ids);
    // Not again at once, and not again at the next tick.
    expect(upstream.requests.length).toBe(1);
    for (const check of await tick(...ids)) expect(idsOf(check)).toEqual([]);
  });

  it('postpones a search whose checks cannot be recorded, and does not read the upstream again and again', async () => {
    await worker.stop();
    const { worker: other, recorder } = workerOn(upstream, stores);
    worker = other;
    let attempts = 0;
    recorder.record = () => Promise.reject(new Error(`attempt ${(attempts += 1)}`));
    worker.start();
    const id = await stores.watch();
    await stores.due(id);
    await until('the check could not be recorded twice', () => attempts === 2);
    await settled(id);
    expect(upstream.requests.length).toBe(2);
    const rows: { late: boolean }[] = await stores.database.query(
      `SELECT next_due_at > now() + interval '2 s' AS late FROM watch_schedule WHERE watch_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ late: true }]);
  });

  it('reports the source as unhealthy when a check cannot be stored, although the read succeeded', async () => {
    await worker.stop();
    const { worker: other, recorder, learned } = workerOn(upstream, stores);
    worker = other;
    const record = recorder.record.bind(recorder);
    recorder.record = (checks, ...rest) =>
      record(
        checks.map((one) => ({
          ...one,
          parts: () => one.parts().map((part) => ({ ...part, itemsSeen: 1.5 })),
        })),
        ...rest,
      );
    worker.start();
    const [check] = await tick(await stores.watch());
    expect(check?.failure?.kind).toBe('unknown_shape');
    const trouble = await until('the trouble is stored', () => learned.at(-1)?.trouble || undefined);
    expect(trouble).toBe('hackernews returned something that could not be stored');
  });

  it('loses no item between the ticks of a watch with a longer interval', async () => {
    const often = await stores.watch({ intervalSeconds: 60 });
    const seldom = await stores.watch({ intervalSeconds: 3600 });
    await tick(often, seldom);
    await settled(often, seldom);
    upstream.publish('hn:1');
    expect(idsOf((await tick(often))[0])).toEqual(['hn:1']);
    await settled(often);
    upstream.publish('hn:2');
    expect(idsOf((await tick(often))[0])).toEqual(['hn:2']);
    await settled(often);
    upstream.publish('hn:3');
    const [first, second] = await tick(often, seldom);
    await settled(often, seldom);
    expect([idsOf(first), idsOf(second)]).toEqual([['hn:3'], ['hn:3', 'hn:2', 'hn:1']]);
    expect(idsOf((await tick(seldom))[0])).toEqual([]);
  });

  it('records free, failed checks with the reason while the feed is frozen, until something new appears', async () => {
    await worker.stop();
    Object.assign(upstream, { hasFeed: true, quietSeconds: 0.02 });
    worker = workerOn(upstream, stores).worker;
    worker.start();
    upstream.publish('hn:1');
    const id = await stores.watch();
    const next = async () => {
      const [check] = await tick(id);
      await settled(id);
      return check;
    };
    await next();
    const frozen = await until('the feed counts as frozen', async () => {
      const check = await next();
      return check?.failure && check;
    });
    expect(frozen.failure).toMatchObject({
      kind: 'frozen',
      reason: expect.stringContaining('hackernews responds, but has shown nothing new'),
    });
    expect([frozen.costCredits, frozen.items.length]).toEqual([0, 0]);
    // The window has grown by then: a whole read of the feed would cost more than the search.
    upstream.feedPages = Infinity;
    expect((await next())?.failure?.kind).toBe('frozen');
    upstream.publish('hn:2');
    expect(idsOf(await next())).toEqual(['hn:2']);
  });

  it('treats a watch that joins a search later as a new watch', async () => {
    const first = await stores.watch();
    await tick(first);
    await settled(first);
    upstream.publish('hn:1');
    await tick(first);
    await settled(first);
    const late = await stores.watch();
    const [check] = await tick(late);
    await settled(late);
    expect([check?.baseline, idsOf(check), check?.rememberedItemIds]).toEqual([true, [], ['hn:1']]);
    upstream.publish('hn:2');
    const both = await tick(first, late);
    expect(both.map(idsOf)).toEqual([['hn:2'], ['hn:2']]);
  });

  it('loses no item of a search’s watches when another watch has its first check in the same read', async () => {
    const old = await stores.watch();
    await tick(old);
    await settled(old);
    upstream.pageSize = 2;
    for (const id of ['hn:1', 'hn:2', 'hn:3', 'hn:4', 'hn:5']) upstream.publish(id);
    const late = await stores.watch({ backfill: true });
    const requestsBefore = upstream.requests.length;
    const [first, second] = await tick(old, late);
    await settled(old, late);
    expect(idsOf(first)).toEqual(['hn:5', 'hn:4', 'hn:3', 'hn:2', 'hn:1']);
    expect([second?.baseline, idsOf(second)]).toEqual([true, ['hn:5', 'hn:4']]);
    expect(upstream.requests.length - requestsBefore).toBe(2);
  });

  it('gives a read the memory of the last one, and the history even to a watch that the last read did not serve', async () => {
    const often = await stores.watch();
    const seldom = await stores.watch();
    for (const ids of [[often, seldom], [often], [often], [often, seldom]]) {
      await tick(...ids);
      await settled(...ids);
    }
    expect(upstream.states).toEqual([{}, { mark: 1, history: 1 }, { mark: 2, history: 2 }, { history: 3 }]);
  });

  it('records a free, failed check with its reason, and sends nothing before Retry-After has passed [credits.failed-check]', async () => {
    const ids = [
      await stores.watch({ intervalSeconds: 1 }),
      await stores.watch({ query: 'other', intervalSeconds: 1 }),
    ];
    upstream.failure = { status: 429, headers: { 'retry-after': '2' } };
    const failed = await tick(...ids);
    for (const check of failed) {
      expect(check).toMatchObject({
        costCredits: 0,
        items: [],
        windowTo: '',
        failure: { kind: 'rate_limited' },
      });
      expect(Date.parse(check.failure?.retryAt ?? '')).toBeGreaterThan(Date.now());
    }
    upstream.failure = undefined;
    const lastRefused = Math.max(...upstream.requests);
    const requestsBefore = upstream.requests.length;
    upstream.publish('hn:1');
    await until('the lane sends requests again', () => upstream.requests.length > requestsBefore, 8000);
    expect((upstream.requests[requestsBefore] ?? 0) - lastRefused).toBeGreaterThanOrEqual(2000);
    const healed = await until('a successful check', async () =>
      (await stores.checksOf(ids[0] ?? '')).find((check) => !check.failure),
    );
    expect([healed.baseline, healed.costCredits]).toEqual([true, 1]);
  });

  it('loses no item of a failed check’s window', async () => {
    const id = await stores.watch();
    await tick(id);
    await settled(id);
    upstream.publish('hn:1');
    upstream.failure = { status: 403 };
    expect((await tick(id))[0]?.failure?.kind).toBe('forbidden');
    await settled(id);
    upstream.failure = undefined;
    upstream.publish('hn:2');
    expect(idsOf((await tick(id))[0])).toEqual(['hn:2', 'hn:1']);
  });

  it('loses no part of a check when a kill comes after the first part: its items do not end the next read', async () => {
    const id = await stores.watch();
    await tick(id);
    await settled(id);
    await worker.stop();
    for (const item of ['hn:1', 'hn:2']) upstream.publish(item, `acme ${'x'.repeat(300 * 1024)}`);
    await stores.due(id);
    const [search] = await claimDue(stores.database, 'hackernews:0', 1);
    const watch = search?.watches[0];
    if (!search || !watch) throw new Error('nothing was due');
    const matched = upstream.items.map((item) => ({ item, matches: [] }));
    const fetched = { items: upstream.items, gap: false, warnings: [] };
    const answer = {
      kind: 'read' as const,
      fetched,
      state: {},
      readAt: new Date(),
      windowFrom: undefined,
      clockAheadMs: 0,
    };
    const [part] = completedCheck(priced(search, watch), answer, matched, new Set(), new Date());
    if (!part) throw new Error('no part');
    const subject = subjectOf('CHECKS', watch.accountId, id);
    await stores.store.append(subject, toBinary(CheckSchema, part), watch.checkSeq, `${part.checkId}:1`);
    worker = workerOn(upstream, stores).worker;
    worker.start();
    await settled(id);
    const [next] = await tick(id);
    expect([idsOf(part), idsOf(next)]).toEqual([['hn:2'], ['hn:1']]);
  });

  it('does not check a paused watch, and checks a resumed one again, including what was published meanwhile', async () => {
    const id = await stores.watch();
    await tick(id);
    await settled(id);
    await stores.change(id, { isActive: false });
    await stores.due(id);
    await until('the search has no due time', async () => {
      const rows: { idle: boolean }[] = await stores.database.query(
        `SELECT next_due_at = 'infinity' AS idle FROM upstream_searches`,
      );
      return rows[0]?.idle;
    });
    expect((await stores.checksOf(id)).length).toBe(1);
    upstream.publish('hn:1');
    await stores.change(id, { isActive: true });
    const check = await until('a check after the pause', async () => (await stores.checksOf(id))[1]);
    expect(idsOf(check)).toEqual(['hn:1']);
  });

  it('finishes the running read when it is stopped, and starts no other', async () => {
    let open = () => {};
    upstream.gate = new Promise((resolve) => (open = resolve));
    const id = await stores.watch();
    await stores.due(id);
    await until('the read is running', () => upstream.requests.length === 1);
    const stopped = worker.stop();
    open();
    await stopped;
    expect((await stores.checksOf(id)).length).toBe(1);
    await stores.due(id);
    expect(upstream.requests.length).toBe(1);
  });

  it('serves due searches by the feed while many searches are read one by one', async () => {
    await worker.stop();
    upstream.hasFeed = true;
    upstream.answerMs = 50;
    worker = workerOn(upstream, stores).worker;
    worker.start();
    const fed = await stores.watch({ query: 'fed' });
    await tick(fed);
    await settled(fed);
    const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => stores.watch({ query: `q${n}` })));
    const requestsBefore = upstream.requests.length;
    await stores.due(...ids);
    await until('the reads have begun', () => upstream.requests.length > requestsBefore);
    upstream.publish('hn:1', 'fed');
    expect(idsOf((await tick(fed))[0])).toEqual(['hn:1']);
    expect(upstream.requests.length - requestsBefore).toBeLessThan(ids.length);
  });

  it('claims no more searches than its budget can read, and releases them when it is stopped', async () => {
    await worker.stop();
    upstream.requestsPerMinute = 6;
    worker = workerOn(upstream, stores).worker;
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => stores.watch({ query: `q${n}` })));
    await stores.due(...ids);
    const held = async () => {
      const rows: { held: number }[] = await stores.database.query(
        'SELECT count(*)::int AS held FROM upstream_searches WHERE leased_until > now()',
      );
      return rows[0]?.held ?? 0;
    };
    worker.start();
    await until('the budget is used up', () => upstream.requests.length === 1);
    expect(await until('searches wait', async () => (await held()) <= 10 && held())).toBeGreaterThan(1);
    const began = Date.now();
    await worker.stop();
    expect(Date.now() - began).toBeLessThan(2000);
    expect([await held(), upstream.requests.length]).toEqual([0, 1]);
  });

  it('does not exceed its budget of requests', async () => {
    await worker.stop();
    upstream.requestsPerMinute = 600;
    worker = workerOn(upstream, stores).worker;
    const ids = await Promise.all(Array.from({ length: 110 }, (_, n) => stores.watch({ query: `q${n}` })));
    await stores.due(...ids);
    worker.start();
    await until('every search was read', () => upstream.requests.length === ids.length);
    const [first = 0] = upstream.requests;
    // A burst of 100 (ten seconds' worth), then 10 per second.
    expect((upstream.requests[109] ?? 0) - first).toBeGreaterThanOrEqual(890);
  });
});
