import { create } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { openPollingStores, priced, type PollingStores } from '../testing/polling-under-test.js';
import { completedCheck } from './build-checks.js';
import { CheckRecorder } from './check-recorder.js';
import { claimDue } from '../due/claim-due.js';
import type { DueSearch } from '../due/due-work.js';
import { pruneSeenItems, seenByAll, seenItemsOf } from './seen-items.js';

let stores: PollingStores;
let recorder: CheckRecorder;

beforeAll(async () => {
  stores = await openPollingStores();
  recorder = new CheckRecorder(stores.database, stores.store, () => Date.now());
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  for (const table of ['seen_items', 'watch_schedule', 'upstream_searches'])
    await stores.database.query(`DELETE FROM ${table}`);
});

async function claim(watchId: string): Promise<DueSearch> {
  await stores.due(watchId);
  await stores.database.query(`UPDATE upstream_searches SET leased_until = 'epoch'`);
  const [search] = await claimDue(stores.database, 'hackernews:0', 1);
  if (!search) throw new Error('nothing was due');
  return search;
}

const matchedOf = (ids: readonly string[]) =>
  ids.map((itemId) => ({ item: create(ItemSchema, { itemId, source: 'hackernews' }), matches: [] }));

/** Records one check of the search's watch with these items. */
async function record(search: DueSearch, ids: readonly string[], notBefore?: number): Promise<void> {
  const [watch] = search.watches;
  if (!watch) throw new Error('no watch');
  const fetched = { items: [], gap: false, warnings: [] };
  const answer = {
    kind: 'read' as const,
    fetched,
    state: {},
    readAt: new Date(),
    windowFrom: undefined,
    clockAheadMs: 0,
  };
  const parts = completedCheck(priced(search, watch), answer, matchedOf(ids), new Set(), new Date());
  await recorder.record([{ search, watch, parts: () => parts, notBefore }], [], true);
}

async function column<T>(query: string): Promise<T[]> {
  const rows: { value: T }[] = await stores.database.query(query);
  return rows.map(({ value }) => value);
}
const seen = () => column<string>('SELECT item_id AS value FROM seen_items ORDER BY item_id');
const dueInSeconds = async () =>
  (
    await column<number>(
      'SELECT extract(epoch FROM time_of(due_second) - now())::float8 AS value FROM watch_schedule',
    )
  )[0];
const age = (ids: readonly string[], days: number) =>
  stores.database.query(
    'UPDATE seen_items SET seen_at = now() - make_interval(days => $2) WHERE item_id = ANY($1)',
    [ids, days],
  );

describe('the seen items of a watch', () => {
  it('are deleted after 120 days, except items that the upstream continues to return and items of feeds', async () => {
    const id = await stores.watch();
    await record(await claim(id), ['hn:1', 'hn:2', 'hn:3']);
    await age(['hn:1', 'hn:2'], 121);
    const search = await claim(id);
    const found = new Map([[search.searchKey, matchedOf(['hn:2'])]]);
    expect((await seenItemsOf(stores.database, [search], found))(id)).toEqual(new Set(['hn:2']));
    await stores.database.query(`UPDATE upstream_searches SET source = 'rss'`);
    await pruneSeenItems(stores.database);
    expect(await seen()).toEqual(['hn:1', 'hn:2', 'hn:3']);
    await stores.database.query(`UPDATE upstream_searches SET source = 'hackernews'`);
    await pruneSeenItems(stores.database);
    expect(await seen()).toEqual(['hn:2', 'hn:3']);
    const known = await seenByAll(stores.database, await claim(id));
    expect(['hn:1', 'hn:2', 'hn:3'].map(known)).toEqual([false, true, true]);
  });

  it('are not stored for a watch that was deleted during its check', async () => {
    const search = await claim(await stores.watch());
    await stores.database.query('DELETE FROM watch_schedule');
    await record(search, ['hn:1']);
    expect(await seen()).toEqual([]);
  });
});

describe('the next tick of a watch', () => {
  it('uses an interval that was shortened during the check, unless the search must wait', async () => {
    const id = await stores.watch({ intervalSeconds: 86_400 });
    const search = await claim(id);
    await stores.change(id, { intervalSeconds: 1 });
    await record(search, []);
    expect(await dueInSeconds()).toBeLessThanOrEqual(1);
    const again = await claim(id);
    await stores.change(id, { intervalSeconds: 60 });
    await record(again, [], Date.now() + 7_200_000);
    expect(await dueInSeconds()).toBeGreaterThan(7000);
  });

  it('does not move back if a late replica stores an older check', async () => {
    const id = await stores.watch();
    const late = await claim(id);
    await record(late, ['hn:1']);
    await stores.database.query(
      `UPDATE watch_schedule SET check_seq = check_seq + 5, due_second = second_of(now() + interval '10 days')`,
    );
    await record(late, ['hn:1']);
    expect(await dueInSeconds()).toBeGreaterThan(86_400);
  });
});
