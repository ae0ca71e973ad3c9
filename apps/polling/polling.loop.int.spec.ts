import type { SourceId } from '#contracts';
import { OutboundError, type OutboundHttp } from '#http-out';
import { newId } from '#kernel';
import type { SourceSetup } from '#sources';
import { createLogger, metricsText } from '#telemetry';
import { until } from '#testing';
import { NatsStrategy } from '#transport';
import type { PollingConfig } from './config.js';
import { LaneWork } from './lanes/lane-work.js';
import { openPollingStores, Upstream, type PollingStores } from './testing/polling-under-test.js';
import { PollingLoop } from './polling.loop.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());

/** Returns an HTTP client whose requests hang until the client is closed. */
function hangingClient(): { http: OutboundHttp; requests: () => number } {
  const hanging: ((error: Error) => void)[] = [];
  const http: OutboundHttp = {
    request: () => new Promise((_, reject) => hanging.push(reject)),
    close: () => {
      for (const reject of hanging) reject(new OutboundError('network', 'the connection was closed'));
      return Promise.resolve();
    },
  };
  return { http, requests: () => hanging.length };
}

/** Returns a loop over one lane of each of these sources. */
function loopOn(
  http: OutboundHttp,
  sources: readonly SourceId[],
  { leaseMs = 10_000, database = stores.database } = {},
): PollingLoop {
  const { connector } = new Upstream();
  const setups = sources.map((id) => [
    id,
    { connector: { ...connector, id }, configured: true, enabled: true },
  ]);
  const config = {
    LANE_LEASE_MS: leaseMs,
    POLL_TICK_MS: 20,
    lanesOf: () => 1,
    sources: new Map(setups as [SourceId, SourceSetup][]),
  } as unknown as PollingConfig;
  const log = createLogger('spec', 'silent');
  const strategy = new NatsStrategy(stores.bus, log);
  const work = new LaneWork(database, stores.store, strategy, log);
  return new PollingLoop(database, http, config, log, work);
}

describe('the loop of polling', () => {
  it('stops within 4 s while an upstream hangs, releases the running reads, and records no failed checks', async () => {
    const { http, requests } = hangingClient();
    const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => stores.watch({ query: `q${n}` })));
    const loop = loopOn(http, ['hackernews']);
    await loop.start();
    await stores.due(...ids);
    await until('the reads hang', () => requests() === 4);
    const began = Date.now();
    await loop.stop();
    expect(Date.now() - began).toBeLessThan(4000);
    const checks = await Promise.all(ids.map((id) => stores.checksOf(id)));
    expect(checks.flat()).toEqual([]);
    const rows: { due: number }[] = await stores.database.query(
      'SELECT count(*)::int AS due FROM upstream_searches WHERE next_due_at <= now() AND leased_until IS NULL',
    );
    expect(rows[0]?.due).toBe(ids.length);
  });

  it('releases half of its lanes if another replica joins while the loop takes lanes, even if releasing lanes fails once', async () => {
    const another = newId();
    const join = () =>
      stores.database.query(
        'INSERT INTO polling_replicas (replica, seen_at) VALUES ($1, now() + $2::interval)',
        [another, '1 hour'],
      );
    let hasJoined = false;
    let refusals = 1;
    // Makes a replica join after the first statement that takes lanes, and makes one release of lanes fail.
    const database = new Proxy(stores.database, {
      get(target, key) {
        if (key !== 'query') return Reflect.get(target, key) as unknown;
        return async (sql: string, params?: unknown[]) => {
          if (
            sql.includes("UPDATE lanes SET leased_until = 'epoch' WHERE lane") &&
            params?.[0] &&
            refusals > 0
          ) {
            refusals -= 1;
            throw new Error('the connection was lost');
          }
          const rows: unknown = await target.query(sql, params);
          if (!hasJoined && sql.includes('UPDATE lanes SET owner') && sql.includes('SKIP LOCKED')) {
            hasJoined = true;
            await join();
          }
          return rows;
        };
      },
    });
    const { http } = hangingClient();
    const loop = loopOn(http, ['hackernews', 'rss', 'lemmy', 'github'], { leaseMs: 600, database });
    await loop.start();
    expect(hasJoined).toBe(true);
    await until('half of the lanes are free', async () => {
      const rows: unknown[] = await stores.database.query('SELECT 1 FROM lanes WHERE leased_until <= now()');
      return rows.length === 2;
    });
    await loop.stop();
  });

  it('shows how late the searches of a source are, until the source has no scheduled search', async () => {
    const schedule = (at: string) =>
      stores.database.query('UPDATE upstream_searches SET next_due_at = $1', [at]);
    const isShown = async () =>
      (await metricsText()).includes('earshot_due_searches_late_seconds{source="hackernews"} ');
    await stores.watch();
    await schedule(new Date(Date.now() - 3_600_000).toISOString());
    // Another replica holds the lane, so that the loop does not read the searches.
    await stores.database.query(
      `INSERT INTO lanes (lane, source, owner, leased_until)
       VALUES ('hackernews:0', 'hackernews', $1, now() + interval '1 hour')
       ON CONFLICT (lane) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until`,
      [newId()],
    );
    const loop = loopOn(hangingClient().http, ['hackernews'], { leaseMs: 600 });
    await loop.start();
    expect(await isShown()).toBe(true);
    await schedule('infinity');
    await until('the metric shows no value', async () => !(await isShown()));
    await loop.stop();
  });

  it('does not count searches as late if their source was turned off', async () => {
    await stores.due(await stores.watch());
    const { http } = hangingClient();
    const loop = loopOn(http, ['rss']);
    await loop.start();
    await loop.stop();
    expect(await metricsText()).not.toMatch(/^earshot_due_searches.*source="hackernews"/m);
  });
});
