import { until } from '#testing';
import { openPollingStores, type PollingStores } from '../testing/polling-under-test.js';
import { LaneLeases, memoryOf, type LaneRow } from './lane-leases.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());
beforeEach(async () => {
  await stores.database.query('DELETE FROM lanes');
  await stores.database.query('DELETE FROM polling_replicas');
});

const LONG_MS = 60_000;
const SOURCES = ['hackernews', 'rss'];

async function replica(leaseMs = LONG_MS): Promise<LaneLeases> {
  const leases = new LaneLeases(stores.database, leaseMs);
  await leases.prepare(
    new Map([
      ['hackernews', 3],
      ['rss', 1],
    ]),
  );
  return leases;
}

const namesOf = (rows: readonly { lane: string }[]) => rows.map(({ lane }) => lane).sort();

describe('the leases of lanes', () => {
  it('give all lanes to a single replica', async () => {
    const leases = await replica();
    expect(namesOf((await leases.renew(SOURCES)).held)).toEqual([
      'hackernews:0',
      'hackernews:1',
      'hackernews:2',
      'rss:0',
    ]);
  });

  it('give each of two replicas its share after the first replica has released its surplus', async () => {
    const first = await replica();
    const second = await replica();
    const { held: all } = await first.renew(SOURCES);
    expect(await second.renew(SOURCES)).toEqual({ held: [], surplus: [] });
    const { held, surplus } = await first.renew(SOURCES);
    expect([...namesOf(held), ...surplus].sort()).toEqual(namesOf(all));
    expect(surplus.length).toBe(2);
    expect(['the surplus is the same until it is released', (await first.renew(SOURCES)).surplus]).toEqual([
      'the surplus is the same until it is released',
      surplus,
    ]);
    await first.release(surplus);
    expect(namesOf((await second.renew(SOURCES)).held)).toEqual(surplus.sort());
    const after = await first.renew(SOURCES);
    expect([namesOf(after.held), after.surplus]).toEqual([namesOf(held), []]);
  });

  it('never give one lane to two replicas if three replicas ask at the same time', async () => {
    const replicas = await Promise.all(Array.from({ length: 3 }, () => replica()));
    for (let round = 0; round < 3; round += 1) {
      const renewed = await Promise.all(replicas.map((leases) => leases.renew(SOURCES)));
      const names = renewed.flatMap(({ held }) => namesOf(held));
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('move to another replica only if their replica has not renewed them for the length of a lease', async () => {
    const silent = await replica(1000);
    const began = Date.now();
    expect((await silent.renew(SOURCES)).held.length).toBe(4);
    const nextHolder = await replica(1000);
    const taken = await until('the lanes have moved', async () => {
      const { held } = await nextHolder.renew(SOURCES);
      return held.length === 4 && held;
    });
    expect(Date.now() - began).toBeGreaterThanOrEqual(1000);
    expect(namesOf(taken)).toEqual(['hackernews:0', 'hackernews:1', 'hackernews:2', 'rss:0']);
    expect(await silent.renew(SOURCES)).toEqual({ held: [], surplus: [] });
  });

  it('move immediately to another replica when their replica stops', async () => {
    const leaving = await replica();
    await leaving.renew(SOURCES);
    const nextHolder = await replica();
    await leaving.leave();
    expect((await nextHolder.renew(SOURCES)).held.length).toBe(4);
  });

  it('delete the rows of replicas that have not been seen for an hour', async () => {
    await stores.database.query(
      `INSERT INTO polling_replicas (replica, seen_at) VALUES (gen_random_uuid(), now() - interval '61 minutes'),
         (gen_random_uuid(), now() - interval '59 minutes')`,
    );
    await (await replica()).renew(SOURCES);
    const rows: unknown[] = await stores.database.query('SELECT 1 FROM polling_replicas');
    expect(rows.length).toBe(2);
  });

  it('give a replica only lanes of sources that the replica polls', async () => {
    const leases = await replica();
    expect(namesOf((await leases.renew(['rss'])).held)).toEqual(['rss:0']);
  });

  it('give the next holder what the lane has learned about its upstream', async () => {
    const first = await replica();
    await first.renew(SOURCES);
    const blockedUntil = new Date(Date.now() + 60_000);
    const learned = {
      blockedUntil,
      blockedReason: 'rss asked for a wait',
      failures: 3,
      trouble: 'rss returned 503',
      lastSuccessAt: new Date('2026-03-04T12:00:00.000Z'),
      feed: { newestItemId: 'a', quietMs: 5, readAt: 7 },
      quotas: { search: { points: 4, resetsAt: 9 } },
    };
    await first.remember('rss:0', learned);
    await first.leave();
    const row = (await (await replica()).renew(SOURCES)).held.find(({ lane }) => lane === 'rss:0');
    expect(row && memoryOf(row)).toEqual(learned);
    // The first holder has lost the lane, so this call has no effect.
    await first.remember('rss:0', { ...learned, blockedUntil: new Date(0) });
    const later: LaneRow[] = await stores.database.query(`SELECT * FROM lanes WHERE lane = 'rss:0'`);
    expect(later[0]?.blocked_until).toEqual(blockedUntil);
  });

  it('assign every search to an existing lane if the number of lanes changes', async () => {
    for (let n = 0; n < 10; n += 1) await stores.watch({ query: `q${n}` });
    const lanes = async () => {
      const rows: { lane: string }[] = await stores.database.query(
        'SELECT DISTINCT lane FROM upstream_searches ORDER BY lane',
      );
      return rows.map(({ lane }) => lane);
    };
    expect(await lanes()).toEqual(['hackernews:0']);
    await replica();
    expect((await lanes()).length).toBeGreaterThan(1);
    await new LaneLeases(stores.database, LONG_MS).prepare(new Map([['hackernews', 1]]));
    expect(await lanes()).toEqual(['hackernews:0']);
  });
});
