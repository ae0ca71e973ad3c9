import { setTimeout as wait } from 'node:timers/promises';
import { newId } from '#kernel';
import { LlmError, LlmLane, type LaneBudget } from '#llm';
import type { Database } from '#postgres';
import { type SpecDatabase, openSpecDatabase, until } from '#testing';
import { SharedLlmTurns } from './shared-turns.js';

const SERVER = { url: 'http://127.0.0.1:1/v1', model: 'one', token: '' };

let spec: SpecDatabase;
let database: Database;

beforeAll(async () => {
  spec = await openSpecDatabase();
  ({ database } = spec);
});
afterAll(() => spec?.drop());

describe('the shared lane of the language model', () => {
  const open: LlmLane[] = [];
  /** How far the clock of the replicas is ahead of Postgres. */
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const replicas = async (budget: Partial<LaneBudget> = {}) => {
    await database.query(`UPDATE llm_lane SET failures = 0, blocked_until = 'epoch', tokens = 'infinity'`);
    const lanes = [1, 2].map(
      () =>
        new LlmLane(
          { concurrency: 2, requestsPerMinute: 60_000, ...budget },
          clock,
          new SharedLlmTurns(database, SERVER),
        ),
    );
    open.push(...lanes);
    return lanes as [LlmLane, LlmLane];
  };
  const inMs = (ms: number) => Date.now() + aheadMs + ms;
  const failing = (lane: LlmLane, retryAfterMs: number) =>
    expect(
      lane.run(inMs(5_000), () => Promise.reject(new LlmError('rate_limited', 'slow down', retryAfterMs))),
    ).rejects.toMatchObject({ kind: 'rate_limited' });

  afterEach(() => {
    open.splice(0).forEach((lane) => lane.close());
    aheadMs = 0;
  });

  it('has one limit of concurrent requests', async () => {
    const lanes = await replicas();
    let [running, max] = [0, 0];
    const request = async () => {
      max = Math.max(max, (running += 1));
      await wait(50);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => lanes[n % 2]!.run(inMs(10_000), request)));
    expect(max).toBe(2);
  });

  it('has one limit of requests per minute', async () => {
    const lanes = await replicas({ requestsPerMinute: 60 });
    for (let n = 0; n < 10; n += 1) await lanes[n % 2]!.run(inMs(5_000), () => Promise.resolve());
    for (const lane of lanes)
      await expect(lane.run(inMs(300), () => Promise.resolve())).rejects.toMatchObject({ kind: 'no_turn' });
  });

  it('sends no request from any replica until the wait that the server asked of one replica is over', async () => {
    const [first, second] = await replicas();
    await failing(first, 60_000);
    await expect(second.run(inMs(30_000), () => Promise.resolve())).rejects.toMatchObject({
      kind: 'no_turn',
    });
    expect([second.room, second.blockedForMs > 50_000]).toEqual([0, true]);
  });

  it.each([{ url: 'http://127.0.0.1:2/v1' }, { model: 'two' }, { token: 'secret' }])(
    'does not wait any more after a change of the settings to %j',
    async (change) => {
      const [first] = await replicas();
      await failing(first, 60_000);
      const turns = new SharedLlmTurns(database, { ...SERVER, ...change });
      const changed = new LlmLane({ concurrency: 2, requestsPerMinute: 60_000 }, clock, turns);
      open.push(changed);
      expect(await changed.run(inMs(5_000), () => Promise.resolve('answer'))).toBe('answer');
      expect(first.blockedForMs).toBeGreaterThan(0);
    },
  );

  it('tests a model that is down with only one request at a time from all replicas together', async () => {
    const [first, second] = await replicas();
    for (const lane of [first, second, first, second, first]) await failing(lane, 0);
    expect([first.isDown, second.isDown, await second.isStillDown()]).toEqual([true, false, false]);
    await database.query(`UPDATE llm_lane SET blocked_until = 'epoch'`);
    aheadMs = 5_000;
    let answer = () => {};
    const test = first.run(inMs(5_000), () => new Promise<void>((resolve) => (answer = resolve)));
    await until('the test is under way', async () => (await turns()) === 1);
    await expect(second.run(inMs(300), () => Promise.resolve())).rejects.toMatchObject({ kind: 'no_turn' });
    expect(await second.isStillDown()).toBe(true);
    answer();
    await test;
    // While `isStillDown` is true, the loop of questions answers questions without the model. After the
    // success this must end.
    expect([second.isDown, await second.isStillDown()]).toEqual([true, false]);
    await second.run(inMs(5_000), () => Promise.resolve());
    expect([first.isDown, second.isDown, await turns()]).toEqual([false, false, 0]);
  });

  it('frees the slot of a dead replica', async () => {
    const [lane] = await replicas({ concurrency: 1 });
    const dies = (seconds: number) =>
      database.query(`INSERT INTO llm_turns VALUES ($1, now() + make_interval(secs => $2))`, [
        newId(),
        seconds,
      ]);
    await dies(60);
    await expect(lane.run(inMs(300), () => Promise.resolve())).rejects.toMatchObject({ kind: 'no_turn' });
    // The server of the model works, so the lane must not look blocked, and no alert must report it.
    expect(lane.blockedForMs).toBe(0);
    await database.query(`UPDATE llm_turns SET ends_at = now() - interval '1 second'`);
    expect(await lane.run(inMs(5_000), () => Promise.resolve('answer'))).toBe('answer');
  });

  describe('while all slots are in use', () => {
    const limits = { maxConcurrent: () => 1, requestsPerMinute: 60_000, burst: 100 };
    const [held, patient, later] = [newId(), newId(), newId()];
    let shared: SharedLlmTurns;
    const begins = async (turn: string, waitedMs: number) =>
      'hasBegun' in (await shared.begin(turn, waitedMs, limits));
    const next = (until: string) =>
      database.query('UPDATE llm_lane SET next_until = $1 WHERE next_turn = $2', [until, patient]);

    beforeEach(async () => {
      await replicas();
      shared = new SharedLlmTurns(database, SERVER);
      expect([await begins(held, 0), await begins(later, 0), await begins(patient, 1_000)]).toEqual([
        true,
        false,
        false,
      ]);
    });
    afterEach(async () => {
      for (const turn of [held, patient, later]) await shared.end(turn, undefined);
      await database.query('UPDATE llm_lane SET next_turn = NULL');
    });

    it('keeps the next slot for the first request that has waited one second', async () => {
      await next('infinity');
      await shared.end(held, undefined);
      expect([await begins(later, 0), await begins(later, 5_000), await begins(patient, 1_200)]).toEqual([
        false,
        false,
        true,
      ]);
      await shared.end(patient, undefined);
      expect(await begins(later, 0)).toBe(true);
    });

    it('gives the kept slot to another request if the first request does not ask again in time', async () => {
      await next('epoch');
      await shared.end(held, undefined);
      expect(await begins(later, 0)).toBe(true);
    });
  });

  it('does not renew a turn if the connection to Postgres fails after the turn was committed', async () => {
    const timers = jest.spyOn(globalThis, 'setInterval');
    const [lane] = await replicas({ concurrency: 1 });
    const transaction = database.transaction.bind(database) as (work: unknown) => Promise<unknown>;
    jest.spyOn(database, 'transaction').mockImplementationOnce(async (...[work]: unknown[]) => {
      await transaction(work);
      throw new Error('Connection terminated unexpectedly');
    });
    await expect(lane.run(inMs(5_000), () => Promise.resolve())).rejects.toThrow('terminated');
    // The turn is stored, but no timer renews it.
    expect([await turns(), timers.mock.calls.length]).toEqual([1, 0]);
    jest.restoreAllMocks();
    await database.query('DELETE FROM llm_turns');
  });

  async function turns(): Promise<number> {
    const rows: { n: number }[] = await database.query('SELECT count(*)::int AS n FROM llm_turns');
    return rows[0]!.n;
  }
});
