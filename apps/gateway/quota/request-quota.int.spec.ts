import type { Clock } from '#kernel';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { RequestQuota, type QuotaResult } from './request-quota.js';

const log = createLogger('spec', 'silent');
let stores: IsolatedStores;
let database: Database;
const started: RequestQuota[] = [];

beforeAll(async () => {
  stores = await isolateStores();
  database = await openDatabase(stores.databaseUrl, 'spec');
});
afterEach(async () => {
  for (const quota of started.splice(0)) await quota.stop();
});
afterAll(async () => {
  await database?.destroy();
  await stores?.drop();
});

/** Returns a clock that stays at the tenth second of a minute until a spec moves it. */
function stoppedClock(): Clock & { at: number } {
  return {
    at: Date.parse('2026-03-01T12:00:10.000Z'),
    now() {
      return new Date(this.at);
    },
  };
}

/** Returns the quota of one gateway. The gateway takes leases: each is a number of requests that it may admit. */
function gateway(clock?: Clock, on: Database = database): RequestQuota {
  const quota = new RequestQuota(on, log, clock);
  started.push(quota);
  return quota;
}

function times<T>(count: number, ask: (n: number) => T): Promise<Awaited<T>[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
}

const admitted = (results: readonly QuotaResult[]) => results.filter((result) => result.admitted).length;

async function usedOf(accountId: string): Promise<number | undefined> {
  const rows: { used: number }[] = await database.query(
    'SELECT used FROM request_quotas WHERE account_id = $1',
    [accountId],
  );
  return rows[0]?.used;
}

describe('the requests of a minute', () => {
  it.each([
    [60, 200],
    [350, 800],
    [1200, 3000],
    [12_000, 13_000],
  ])(
    'are limited to %i, within one percent, for %i concurrent requests at two gateways [limits.quota]',
    async (limit, requests) => {
      const clock = stoppedClock();
      const [one, other] = [gateway(clock), gateway(clock)];
      const accountId = newId();
      const results = await times(requests, (n) => (n % 2 ? one : other).take(accountId, limit));
      expect(admitted(results)).toBeLessThanOrEqual(limit);
      expect(admitted(results)).toBeGreaterThanOrEqual(Math.ceil(limit * 0.99));
      expect(await usedOf(accountId)).toBeLessThanOrEqual(limit);
    },
  );

  it('are admitted exactly up to the limit even if they alternate between two gateways', async () => {
    const clock = stoppedClock();
    const [one, other] = [gateway(clock), gateway(clock)];
    [one, other].forEach((quota) => quota.start());
    const accountId = newId();
    let count = 0;
    for (let n = 0; n < 100; n += 1) {
      const { admitted: isIn } = await (n % 2 ? one : other).take(accountId, 60);
      if (isIn) count += 1;
    }
    clock.at += 2500;
    await until('everything is spent', async () => {
      clock.at += 300;
      if ((await one.take(accountId, 60)).admitted) count += 1;
      return count === 60;
    });
    expect((await one.take(accountId, 60)).admitted).toBe(false);
  });

  it('are counted down: each answer states the remaining requests and the seconds until the minute ends', async () => {
    const clock = stoppedClock();
    const quota = gateway(clock);
    const accountId = newId();
    const first = await quota.take(accountId, 60);
    expect(first).toEqual({ admitted: true, limit: 60, remaining: 59, resetSeconds: 50 });
    clock.at += 1500;
    expect(await quota.take(accountId, 60)).toMatchObject({ remaining: 58, resetSeconds: 49 });
  });

  it('are counted from zero again in the next minute', async () => {
    const clock = stoppedClock();
    const quota = gateway(clock);
    const accountId = newId();
    expect(admitted(await times(70, () => quota.take(accountId, 60)))).toBe(60);
    clock.at = Date.parse('2026-03-01T12:00:59.999Z');
    const refused = await quota.take(accountId, 60);
    expect(refused).toEqual({ admitted: false, limit: 60, remaining: 0, resetSeconds: 1 });
    clock.at = Date.parse('2026-03-01T12:01:00.000Z');
    expect(admitted(await times(70, () => quota.take(accountId, 60)))).toBe(60);
  });

  it('belong to the later minute if the clocks of two gateways differ by less than a minute', async () => {
    const ahead = stoppedClock();
    ahead.at += 50_000;
    const behind = stoppedClock();
    const accountId = newId();
    const early = gateway(ahead);
    expect(admitted(await times(40, () => early.take(accountId, 60)))).toBe(40);
    await early.stop();
    const late = gateway(behind);
    expect(admitted(await times(40, () => late.take(accountId, 60)))).toBe(20);
  });

  it('are counted per account: a flood by one account does not affect another account', async () => {
    const clock = stoppedClock();
    const quota = gateway(clock);
    const [flood, other] = [newId(), newId()];
    const floods = times(2000, () => quota.take(flood, 60));
    const results = await times(60, () => quota.take(other, 60));
    expect(admitted(results)).toBe(60);
    expect(admitted(await floods)).toBe(60);
  });
});

describe('a lease', () => {
  it('is returned if its gateway does not use it, so that another gateway can use the requests', async () => {
    const clock = stoppedClock();
    const [idle, busy] = [gateway(clock), gateway(clock)];
    idle.start();
    const accountId = newId();
    await idle.take(accountId, 1200);
    expect(await usedOf(accountId)).toBeGreaterThan(1);
    clock.at += 1100;
    await until('the lease is returned', async () => (await usedOf(accountId)) === 1);
    expect(admitted(await times(1300, () => busy.take(accountId, 1200)))).toBe(1199);
  });

  it('is returned when its gateway stops', async () => {
    const quota = gateway(stoppedClock());
    const accountId = newId();
    await times(3, () => quota.take(accountId, 12_000));
    expect(await usedOf(accountId)).toBeGreaterThan(3);
    await quota.stop();
    expect(await usedOf(accountId)).toBe(3);
  });

  it('can be used by another gateway after it was returned, even if that gateway has already refused a request', async () => {
    const clock = stoppedClock();
    const [one, other] = [gateway(clock), gateway(clock)];
    const accountId = newId();
    await one.take(accountId, 1200);
    expect(admitted(await times(1300, () => other.take(accountId, 1200)))).toBeLessThan(1199);
    await one.stop();
    expect((await other.take(accountId, 1200)).admitted).toBe(false);
    clock.at += 260;
    expect((await other.take(accountId, 1200)).admitted).toBe(true);
  });

  it('is used from memory, so that 5000 requests need fewer than 200 statements', async () => {
    let statements = 0;
    const counting = {
      query: (sql: string, parameters: unknown[]) => {
        statements += 1;
        return database.query(sql, parameters);
      },
    } as unknown as Database;
    const quota = gateway(stoppedClock(), counting);
    const accountId = newId();
    for (let n = 0; n < 5000; n += 1) await quota.take(accountId, 12_000);
    expect(statements).toBeLessThan(200);
  });
});

describe('while the table is unavailable', () => {
  const broken = { query: () => Promise.reject(new Error('connect ECONNREFUSED')) } as unknown as Database;

  it('every request is admitted', async () => {
    const quota = gateway(stoppedClock(), broken);
    const accountId = newId();
    expect(admitted(await times(100, () => quota.take(accountId, 60)))).toBe(100);
  });

  it('a request is admitted even if the table never answers', async () => {
    const silent = { query: () => new Promise(() => undefined) } as unknown as Database;
    expect((await gateway(stoppedClock(), silent).take(newId(), 60)).admitted).toBe(true);
  });

  it('the table is queried at most once a second, even while a lease has requests left', async () => {
    let [isBroken, queries] = [false, 0];
    const breaking = {
      query(sql: string, parameters: unknown[]) {
        queries += 1;
        return isBroken ? Promise.reject(new Error('connect ECONNREFUSED')) : database.query(sql, parameters);
      },
    } as unknown as Database;
    const quota = gateway(stoppedClock(), breaking);
    const accountId = newId();
    await quota.take(accountId, 600);
    [isBroken, queries] = [true, 0];
    for (let request = 0; request < 100; request += 1) {
      expect((await quota.take(accountId, 600)).admitted).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(queries).toBe(1);
  });

  it('requests are counted again after the table has recovered', async () => {
    const clock = stoppedClock();
    let isBroken = true;
    const recovering = {
      query: (sql: string, parameters: unknown[]) =>
        isBroken ? Promise.reject(new Error('connect ECONNREFUSED')) : database.query(sql, parameters),
    } as unknown as Database;
    const quota = gateway(clock, recovering);
    const accountId = newId();
    expect(admitted(await times(100, () => quota.take(accountId, 60)))).toBe(100);
    isBroken = false;
    clock.at += 1100;
    expect(admitted(await times(100, () => quota.take(accountId, 60)))).toBe(60);
  });
});
