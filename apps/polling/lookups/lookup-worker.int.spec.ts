import { create, fromBinary } from '@bufbuild/protobuf';
import { LookupSchema, LookUpSchema, PRICE_BOOK_VERSION } from '#contracts';
import { holdUntilCharged, reserve } from '#credits';
import { chargeIdOf, newId, Refusal } from '#kernel';
import { lookupCommand, subjectOf } from '#messaging';
import { UpstreamError, type Lookup, type LookupAnswer, type SourceConnector } from '#sources';
import { createLogger } from '#telemetry';
import { fundAccount, until } from '#testing';
import { CommandClient, NatsStrategy } from '#transport';
import { NOTHING_LEARNED } from '../lanes/lane-memory.js';
import { Lane } from '../lanes/lane.js';
import { openPollingStores, Upstream, type PollingStores } from '../testing/polling-under-test.js';
import { LookupWorker } from './lookup-worker.js';

let stores: PollingStores;
let upstream: Upstream;
let lookup: Lookup;
let lane: Lane;
let open: { stop(): Promise<void> };

beforeAll(async () => {
  stores = await openPollingStores();
});
afterAll(async () => {
  await open?.stop();
  await stores?.drop();
});
beforeEach(async () => {
  await open?.stop();
  await stores.database.query('DELETE FROM credit_holds');
  await fundAccount(stores.database, accountId, 1_000);
  upstream = new Upstream();
  lookup = async (_, { http }) => {
    await http.json({ url: 'https://upstream.example.org/thing' });
    return { kind: 'found', body: { things: ['a', 'b'] }, found: 2 };
  };
  lane = laneOn();
  open = workerOn(lane);
});

function workerOn(on: Lane) {
  const strategy = new NatsStrategy(stores.bus, createLogger('spec', 'silent'));
  return new LookupWorker(strategy, stores.bus, stores.database, stores.store).open(on);
}

function laneOn(more: Partial<SourceConnector> = {}): Lane {
  const lookups = {
    tweets: ((...args) => lookup(...args)) as Lookup,
    user: ((...args) => lookup(...args)) as Lookup,
  };
  return new Lane({
    name: 'x:0',
    connector: { ...upstream.connector, id: 'x', lookups, ...more },
    baseUrl: undefined,
    http: upstream.http,
    lanes: 1,
    memory: NOTHING_LEARNED,
    remember: async () => {},
  });
}

const accountId = newId();

function ask(operation = 'tweets', patienceMs = 60_000, commandId = newId()) {
  const input = create(LookUpSchema, {
    commandId,
    accountId,
    source: 'x',
    operation,
    questionJson: '{"ids":["1","2","3"]}',
    deadline: new Date(Date.now() + patienceMs).toISOString(),
  });
  return new CommandClient(stores.bus).request(lookupCommand('x'), input);
}

const refusalOf = (asking: Promise<unknown>) =>
  asking.then(
    () => undefined,
    ({ kind, code, message }: Refusal) => ({ kind, code, message }),
  );

const held = async () => Object.values(await stores.holds());

async function facts() {
  const stored = await stores.store.read('LOOKUPS', subjectOf('LOOKUPS', accountId));
  return stored.map(({ data }) => fromBinary(LookupSchema, data));
}

describe('a direct lookup', () => {
  it('is answered and published as a fact with its cost', async () => {
    const before = (await facts()).length;
    const { bodyJson, costCredits } = await ask();
    expect([JSON.parse(bodyJson), costCredits]).toEqual([{ things: ['a', 'b'] }, 3]);
    const [fact, ...others] = (await facts()).slice(before);
    expect(others).toEqual([]);
    expect(fact).toMatchObject({
      accountId,
      source: 'x',
      operation: 'tweets',
      questionJson: '{"ids":["1","2","3"]}',
      outcome: 'found',
      found: 2,
      costCredits: 3,
      priceBookVersion: PRICE_BOOK_VERSION,
      billed: true,
    });
  });

  it('returns not found when the upstream says that the object does not exist, and is charged', async () => {
    lookup = async () => ({
      kind: 'refused',
      code: 'USER_SUSPENDED',
      message: 'There is no such user any more',
    });
    const before = (await facts()).length;
    expect(await refusalOf(ask('user'))).toEqual({
      kind: 'not-found',
      code: 'USER_SUSPENDED',
      message: 'There is no such user any more',
    });
    expect((await facts()).slice(before)).toMatchObject([
      { outcome: 'USER_SUSPENDED', found: 0, costCredits: 3 },
    ]);
  });

  it.each([
    ['unknown_shape', 'PARSE'],
    ['timeout', 'NETWORK'],
    ['server_error', 'UNAVAILABLE'],
    ['quota_spent', 'UNAVAILABLE'],
  ] as const)(
    'that fails with %s is unavailable (%s), leaves no fact and costs nothing [errors.upstream]',
    async (kind, code) => {
      lookup = () => Promise.reject(new UpstreamError(kind, 'x did what it did'));
      const before = (await facts()).length;
      expect(await refusalOf(ask())).toEqual({
        kind: 'unavailable',
        code,
        message: 'x did what it did; nothing was charged',
      });
      expect((await facts()).length).toBe(before);
    },
  );

  it('that is answered after its deadline is neither published nor charged', async () => {
    const before = (await facts()).length;
    expect(await refusalOf(ask('tweets', -1))).toMatchObject({
      kind: 'unavailable',
      message: 'x took too long to respond; nothing was charged',
    });
    expect((await facts()).length).toBe(before);
  });

  it.each([
    [429, { 'retry-after': '600' }],
    [503, { 'retry-after': '600' }],
    [429, {}],
  ] as const)(
    'counted separately: after a %i with %j this kind waits; other kinds and the searches continue',
    async (status, headers) => {
      await open.stop();
      lane = laneOn({ lookupsApart: { requestsPerMinute: 600, burst: 10 } });
      open = workerOn(lane);
      upstream.failure = { status, headers };
      expect(await refusalOf(ask('user'))).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
      upstream.failure = undefined;
      const requestsBefore = upstream.requests.length;
      expect((await refusalOf(ask('user')))?.message).toMatch(/try again in \d+ s; nothing was charged$/);
      expect([upstream.requests.length, lane.budget.blockedForMs]).toEqual([requestsBefore, 0]);
      expect((await ask('tweets')).found).toBe(2);
    },
  );

  it('counted separately: eight are sent at the same time, however busy the checks are', async () => {
    await open.stop();
    upstream.requestsPerMinute = 30;
    lane = laneOn({ lookupsApart: { requestsPerMinute: 20, burst: 60 } });
    open = workerOn(lane);
    let answer = () => {};
    upstream.gate = new Promise((resolve) => (answer = resolve));
    // The checks have used up the requests that they may send at once.
    const checks = Array.from({ length: 20 }, () =>
      lane.http.request({ url: 'https://upstream.example.org/' }),
    );
    void Promise.allSettled(checks);
    await until('the checks wait for their turn', () => upstream.requests.length === 5);
    const asking = Array.from({ length: 8 }, () => ask());
    await until('all eight are sent', () => upstream.requests.length >= 13, 1_500);
    answer();
    expect((await Promise.all(asking)).map(({ found }) => found)).toEqual(Array(8).fill(2));
    lane.stop();
  });

  it('counted separately: continues while the searches wait', async () => {
    await open.stop();
    lane = laneOn({ lookupsApart: { requestsPerMinute: 20, burst: 60 } });
    open = workerOn(lane);
    lane.http.holdOff({ waitMs: 600_000, reason: 'the limit of x is used up' });
    expect(lane.budget.blockedForMs).toBeGreaterThan(500_000);
    expect((await ask()).found).toBe(2);
  });

  it('counted with the searches: a 429 makes the whole lane wait', async () => {
    upstream.failure = { status: 429, headers: { 'retry-after': '600' } };
    expect(await refusalOf(ask('user'))).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
    upstream.failure = undefined;
    expect(lane.budget.blockedForMs).toBeGreaterThan(590_000);
    expect(await refusalOf(ask('tweets'))).toMatchObject({
      message: expect.stringContaining('x answered 429 and asked to wait'),
    });
    expect(upstream.requests.length).toBe(1);
  });

  it('is refused when its turn would come too late, and uses nothing of the searches’ budget', async () => {
    await open.stop();
    upstream.requestsPerMinute = 1;
    lane = laneOn();
    open = workerOn(lane);
    expect((await ask()).found).toBe(2);
    const before = (await facts()).length;
    expect(await refusalOf(ask())).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'x is too busy at the moment; try again later; nothing was charged',
    });
    expect([upstream.requests.length, (await facts()).length]).toEqual([1, before]);
  });

  it('waits with the whole lane when that is blocked, and gives the reason', async () => {
    await lane.failed(new UpstreamError('unauthorized', 'x answered 401: check SOURCE_X_TOKEN', 401), 'a');
    expect(await refusalOf(ask())).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('check SOURCE_X_TOKEN'),
    });
    expect(upstream.requests).toEqual([]);
  });

  it('reserves its maximum cost before the request, and keeps it until the charge', async () => {
    const during: number[][] = [];
    const answers = lookup;
    lookup = async (...args) => {
      during.push(await held());
      return answers(...args);
    };
    const commandId = newId();
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    // One for the question and one for each of three ids.
    expect(during).toEqual([[4]]);
    await stores.database.query(`UPDATE credit_holds SET expires_at = now() WHERE expires_at < 'infinity'`);
    expect(await stores.holds()).toEqual({ [commandId]: 4 });
  });

  it('that the account cannot pay is refused with the missing credits, and no request is sent [errors.credits]', async () => {
    await fundAccount(stores.database, accountId, 3);
    expect(await refusalOf(ask())).toEqual({
      kind: 'not-covered',
      code: 'INSUFFICIENT_CREDITS',
      message: '4 credits are needed, 3 are left',
    });
    await fundAccount(stores.database, accountId, 1);
    const refused: unknown = await ask('user').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      details: [{ path: 'credits', message: '3 credits are needed, 1 is left' }],
    });
    expect([upstream.requests, await held()]).toEqual([[], []]);
  });

  it('does not use credits that others have reserved', async () => {
    await fundAccount(stores.database, accountId, 5);
    await reserve(stores.database, [{ holdId: newId(), accountId, credits: 3, lifetimeSeconds: 60 }]);
    expect(await refusalOf(ask('user'))).toMatchObject({ message: '3 credits are needed, 2 are left' });
  });

  it('releases its reservation when it fails or is too late, and keeps it when the object does not exist', async () => {
    await refusalOf(ask('tweets', -1));
    expect(await held()).toEqual([]);
    lookup = () => Promise.reject(new UpstreamError('timeout', 'x did what it did'));
    await refusalOf(ask());
    expect(await held()).toEqual([]);
    lookup = async () => ({ kind: 'refused', code: 'USER_NOT_FOUND', message: 'There is no such user' });
    await refusalOf(ask('user'));
    expect(await held()).toEqual([3]);
  });

  it('that is sent again with its id leaves one fact and one reservation', async () => {
    const commandId = newId();
    const before = (await facts()).length;
    const first = await ask('tweets', 60_000, commandId);
    const second = await ask('tweets', 60_000, commandId);
    expect(second).toEqual(first);
    expect([(await facts()).length - before, await held()]).toEqual([1, [4]]);
  });

  it('that fails does not release the reservation of the same lookup that was sent again meanwhile', async () => {
    const commandId = newId();
    const gates: ((answer: LookupAnswer | Promise<never>) => void)[] = [];
    lookup = () => new Promise((resolve) => gates.push(resolve));
    const first = refusalOf(ask('tweets', 60_000, commandId));
    await until('the first request is sent', () => gates.length === 1);
    const second = ask('tweets', 60_000, commandId);
    await until('the second request is sent', () => gates.length === 2);
    gates[0]?.(Promise.reject(new UpstreamError('timeout', 'x did not answer')));
    expect(await first).toMatchObject({ kind: 'unavailable' });
    expect(await held()).toHaveLength(1);
    gates[1]?.({ kind: 'found', body: {}, found: 1 });
    await second;
    expect(await held()).toHaveLength(1);
  });

  it('that is sent again hours later is answered, publishes nothing and reserves nothing, also if its result has changed [limits.key-24h]', async () => {
    await stores.bus.jsm.streams.update('LOOKUPS', { duplicate_window: 100_000_000 });
    const commandId = newId();
    const before = (await facts()).length;
    await ask('tweets', 60_000, commandId);
    // Longer ago than the stream's window for duplicates: without the check, it would be stored a second time.
    await until('the stream has forgotten the id', async () => {
      const ack = await stores.bus.js.publish(subjectOf('LOOKUPS', newId()), '', { msgID: commandId });
      return !ack.duplicate;
    });
    const answers = lookup;
    lookup = async (...args) => ({ ...(await answers(...args)), found: 1 });
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    expect([(await facts()).length - before, await held()]).toEqual([1, [4]]);
    // The state after the charge.
    await stores.database.query('DELETE FROM credit_holds');
    await stores.database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference, rate, units) VALUES ($1, $2, 1, 0, now(), now(), 'charge', -3, 6, $3, 3, 1)`,
      [chargeIdOf(commandId), accountId, commandId],
    );
    await fundAccount(stores.database, accountId, 0);
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    expect([(await facts()).length - before, await held()]).toEqual([1, []]);
  });

  it('that was not published because its process died is published when it is sent again', async () => {
    const commandId = newId();
    const before = (await facts()).length;
    await reserve(stores.database, [{ holdId: commandId, accountId, credits: 4, lifetimeSeconds: 60 }]);
    await holdUntilCharged(stores.database, [commandId]);
    await ask('tweets', 60_000, commandId);
    expect([(await facts()).length - before, await held()]).toEqual([1, [4]]);
  });

  it('of an account without an open ledger is unavailable, and the error says to try again', async () => {
    await stores.database.query('DELETE FROM credit_balances WHERE account_id = $1', [accountId]);
    expect(await refusalOf(ask())).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'the account’s ledger is not open yet; try again',
    });
    expect(upstream.requests).toEqual([]);
  });

  it('that no replica answers is unavailable', async () => {
    await open.stop();
    expect(await refusalOf(ask())).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
  });
});
