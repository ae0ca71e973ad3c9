import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutboundError, type OutboundHttp } from '#http-out';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import type { PollingConfig } from './config.js';
import { LaneWork } from './lanes/lane-work.js';
import { openPollingStores, Upstream, type PollingStores } from './polling-under-test.js';
import { PollingLoop } from './polling.loop.js';

let stores: PollingStores;

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(() => stores?.drop());

/** A door behind which nobody ever answers. */
function hangingDoor(): { http: OutboundHttp; requests: () => number } {
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

describe('the loop of polling', () => {
  it('stops within 4 s while an upstream hangs: what was under way is given back, and is no failed check', async () => {
    const { http, requests } = hangingDoor();
    const config = {
      LANE_LEASE_MS: 10_000,
      POLL_TICK_MS: 20,
      lanesOf: () => 1,
      sources: new Map([
        ['hackernews', { connector: new Upstream().connector, configured: true, enabled: true }],
      ]),
    } as unknown as PollingConfig;
    const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => stores.watch({ query: `q${n}` })));
    const log = createLogger('spec', 'silent');
    const work = new LaneWork(stores.database, stores.store, stores.bus, log);
    const loop = new PollingLoop(stores.database, http, config, log, work);
    await loop.start();
    await stores.due(...ids);
    await until('the reads hang', () => requests() === 4);
    const began = Date.now();
    await loop.stop();
    expect(Date.now() - began).toBeLessThan(4000);
    const checks = await Promise.all(ids.map((id) => stores.checksOf(id)));
    expect(checks.flat()).toEqual([]);
    const rows: { due: number }[] = await stores.database.query(
      'SELECT count(*)::int AS due FROM upstream_searches WHERE next_due_at <= now() AND leased_until < now()',
    );
    expect(rows[0]?.due).toBe(ids.length);
  });
});
