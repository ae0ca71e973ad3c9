import type { Check } from '#contracts';
import { buildItem, UpstreamError } from '#sources';
import { until } from '#testing';
import { workerOn } from '../testing/polling-under-test.js';
import { laneBudgetTasks } from '../testing/lane-budget-tasks.js';
import { laneFaultTasks } from '../testing/lane-fault-tasks.js';
import { idsOf, LaneScene } from '../testing/lane-scene.js';

const scene = new LaneScene();
const { tick, settled } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.begin());
afterEach(() => scene.worker.stop());

describe('the work on a lane', () => {
  it('begins with a baseline that reports no items, and then reports each new item once [keywords.baseline]', async () => {
    scene.upstream.publish('hn:1');
    const id = await scene.stores.watch();
    const [baseline] = await tick(id);
    await settled(id);
    expect([baseline?.baseline, idsOf(baseline), baseline?.rememberedItemIds]).toEqual([true, [], ['hn:1']]);
    scene.upstream.publish('hn:2');
    const [second] = await tick(id);
    await settled(id);
    expect([second?.baseline, idsOf(second)]).toEqual([false, ['hn:2']]);
    const [third] = await tick(id);
    expect(idsOf(third)).toEqual([]);
  });

  it('never reports an item from before the baseline as new, even if only a later read returns the item', async () => {
    const ids = [await scene.stores.watch(), await scene.stores.watch({ backfill: true })];
    // A date in whole seconds counts as the last millisecond of its second. A date of one second ago is before the
    // baseline even then.
    const before = new Date(Date.now() - 1000).toISOString();
    await tick(...ids);
    await settled(...ids);
    scene.upstream.publish('hn:late', 'acme', before);
    scene.upstream.publish('hn:new');
    const [silent, filled] = await tick(...ids);
    const marks = (check: Check | undefined) =>
      check?.items.map(({ item, backfilled }) => [item?.itemId, backfilled]);
    expect(marks(silent)).toEqual([['hn:new', false]]);
    expect(silent?.rememberedItemIds).toEqual(['hn:late']);
    expect(marks(filled)).toEqual([
      ['hn:late', true],
      ['hn:new', false],
    ]);
  });

  it('reads the upstream only once for the same search of two accounts, and makes a check for each account', async () => {
    const ids = [
      await scene.stores.watch(),
      await scene.stores.watch({ backfill: true }),
      await scene.stores.watch({ query: 'other' }),
    ];
    scene.upstream.publish('hn:1');
    const [silent, filled, other] = await tick(...ids);
    expect(scene.upstream.requests.length).toBe(2);
    expect([idsOf(silent), idsOf(filled), idsOf(other)]).toEqual([[], ['hn:1'], []]);
    expect(new Set([silent?.accountId, filled?.accountId, other?.accountId]).size).toBe(3);
    expect([silent?.costCredits, filled?.costCredits]).toEqual([1, 1]);
    expect(silent?.checkId).not.toBe(filled?.checkId);
  });

  it('records how the items were matched: by whole words if the source has no search', async () => {
    const modeOf = async (hasSearch: boolean) => {
      await scene.worker.stop();
      scene.upstream.hasSearch = hasSearch;
      scene.worker = workerOn(scene.upstream, scene.stores).worker;
      scene.worker.start();
      const id = await scene.stores.watch({ match: 'platform', backfill: true });
      const [check] = await tick(id);
      await settled(id);
      return { mode: check?.matchMode, found: idsOf(check) };
    };
    scene.upstream.publish('hn:1');
    scene.upstream.publish('hn:2', 'acmeology');
    expect(await modeOf(true)).toEqual({ mode: 'platform', found: ['hn:1', 'hn:2'] });
    expect(await modeOf(false)).toEqual({ mode: 'word', found: ['hn:1'] });
  });

  it('reports an item with a title and an id of 600 KB to every waiting watch', async () => {
    const huge = 'x'.repeat(600_000);
    const ids = [await scene.stores.watch({ backfill: true }), await scene.stores.watch({ backfill: true })];
    scene.upstream.items.push(
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
    // The upstream is not read again immediately, and the next tick does not report the item again.
    expect(scene.upstream.requests.length).toBe(1);
    for (const check of await tick(...ids)) expect(idsOf(check)).toEqual([]);
  });

  it('begins no transaction while nothing is due, even while the lane waits for its upstream', async () => {
    await scene.worker.stop();
    const { database } = scene.stores;
    const { lane, worker } = workerOn(scene.upstream, scene.stores);
    scene.worker = worker;
    for (const isBlocked of [false, true]) {
      if (isBlocked) await lane.failed(new UpstreamError('server_error', 'down', 503), 'any');
      expect(lane.budget.blockedForMs > 0).toBe(isBlocked);
      const transactions = jest.spyOn(database, 'transaction');
      const looks = jest.spyOn(database, 'query');
      const before = looks.mock.calls.length;
      const counts = () => [transactions.mock.calls.length, looks.mock.calls.length - before] as const;
      if (!isBlocked) worker.start();
      await until('it has looked a few times', () => counts()[0] > 0 || counts()[1] > 3);
      expect(counts()[0]).toBe(0);
    }
    jest.restoreAllMocks();
  });

  it('loses no item for a watch if another watch of the search has a shorter interval', async () => {
    const often = await scene.stores.watch({ intervalSeconds: 60 });
    const seldom = await scene.stores.watch({ intervalSeconds: 3600 });
    await tick(often, seldom);
    await settled(often, seldom);
    scene.upstream.publish('hn:1');
    expect(idsOf((await tick(often))[0])).toEqual(['hn:1']);
    await settled(often);
    scene.upstream.publish('hn:2');
    expect(idsOf((await tick(often))[0])).toEqual(['hn:2']);
    await settled(often);
    scene.upstream.publish('hn:3');
    const [first, second] = await tick(often, seldom);
    await settled(often, seldom);
    expect([idsOf(first), idsOf(second)]).toEqual([['hn:3'], ['hn:1', 'hn:2', 'hn:3']]);
    expect(idsOf((await tick(seldom))[0])).toEqual([]);
  });

  it('treats a watch that joins a search later as a new watch', async () => {
    const first = await scene.stores.watch();
    await tick(first);
    await settled(first);
    scene.upstream.publish('hn:1');
    await tick(first);
    await settled(first);
    const late = await scene.stores.watch();
    const [check] = await tick(late);
    await settled(late);
    expect([check?.baseline, idsOf(check), check?.rememberedItemIds]).toEqual([true, [], ['hn:1']]);
    scene.upstream.publish('hn:2');
    const both = await tick(first, late);
    expect(both.map(idsOf)).toEqual([['hn:2'], ['hn:2']]);
  });

  it('loses no item of a watch if another watch of the search has its first check at the same time', async () => {
    const old = await scene.stores.watch();
    await tick(old);
    await settled(old);
    scene.upstream.pageSize = 2;
    for (const id of ['hn:1', 'hn:2', 'hn:3', 'hn:4', 'hn:5']) scene.upstream.publish(id);
    const late = await scene.stores.watch({ backfill: true });
    const requestsBefore = scene.upstream.requests.length;
    const [first, second] = await tick(old, late);
    await settled(old, late);
    expect(idsOf(first)).toEqual(['hn:1', 'hn:2', 'hn:3', 'hn:4', 'hn:5']);
    expect([second?.baseline, idsOf(second)]).toEqual([true, ['hn:4', 'hn:5']]);
    expect(scene.upstream.requests.length - requestsBefore).toBe(2);
  });

  it('passes the connector’s state to the next read, but only the key `history` if a watch was added', async () => {
    const often = await scene.stores.watch();
    const seldom = await scene.stores.watch();
    for (const ids of [[often, seldom], [often], [often], [often, seldom]]) {
      await tick(...ids);
      await settled(...ids);
    }
    expect(scene.upstream.states).toEqual([
      {},
      { mark: 1, history: 1 },
      { mark: 2, history: 2 },
      { history: 3 },
    ]);
  });

  it('does not check a paused watch, and after the pause also reports what was published during the pause', async () => {
    const id = await scene.stores.watch();
    await tick(id);
    await settled(id);
    await scene.stores.change(id, { isActive: false });
    await scene.stores.due(id);
    await until('the search has no due time', async () => {
      const rows: { idle: boolean }[] = await scene.stores.database.query(
        `SELECT next_due_at = 'infinity' AS idle FROM upstream_searches`,
      );
      return rows[0]?.idle;
    });
    expect((await scene.stores.checksOf(id)).length).toBe(1);
    scene.upstream.publish('hn:1');
    await scene.stores.change(id, { isActive: true });
    const check = await until('a check after the pause', async () => (await scene.stores.checksOf(id))[1]);
    expect(idsOf(check)).toEqual(['hn:1']);
  });
});

laneBudgetTasks(scene);
laneFaultTasks(scene);
