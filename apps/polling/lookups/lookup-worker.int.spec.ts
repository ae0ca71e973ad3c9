import { fromBinary } from '@bufbuild/protobuf';
import { TimeoutError } from '@nats-io/nats-core';
import { QueryFailedError } from 'typeorm';
import { LookupSchema, PRICE_BOOK_VERSION } from '#contracts';
import { keepUntilCharged, reserve } from '#credits';
import { chargeIdOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { UpstreamError, type LookupAnswer } from '#sources';
import { metrics } from '#telemetry';
import { fakeOnly, fundAccount, until } from '#testing';
import { LaneBlocked } from '../lanes/request-budget.js';
import { lookupBudgetTasks } from '../testing/lookup-budget-tasks.js';
import { LookupScene } from '../testing/lookup-scene.js';

const scene = new LookupScene();
const { accountId, ask, refusalOf } = scene;

beforeAll(() => scene.start());
afterAll(() => scene.stop());
beforeEach(() => scene.begin());
afterEach(() => jest.useRealTimers());

const reservedAmounts = async () => Object.values(await scene.stores.reservations());

async function facts() {
  const stored = await scene.stores.store.read('LOOKUPS', subjectOf('LOOKUPS', accountId));
  return stored.map(({ data }) => fromBinary(LookupSchema, data));
}

lookupBudgetTasks(scene);

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

  it('returns not found and is charged if the upstream says that the object does not exist', async () => {
    scene.lookup = async () => ({
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
    'costs nothing and leaves no fact if the upstream fails with %s, and is refused with the code %s [errors.upstream]',
    async (kind, code) => {
      scene.lookup = () => Promise.reject(new UpstreamError(kind, 'x did what it did'));
      const before = (await facts()).length;
      expect(await refusalOf(ask())).toEqual({
        kind: 'unavailable',
        code,
        message: 'x did what it did; nothing was charged',
      });
      expect((await facts()).length).toBe(before);
    },
  );

  it('is unavailable, reserves nothing and is counted as unknown_operation if this replica does not know its operation', async () => {
    const count = jest.spyOn(metrics.lookups, 'add');
    const reserved = await reservedAmounts();
    expect(await refusalOf(ask('likes'))).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'the polling service has no lookup x.likes; nothing was charged',
    });
    expect(count.mock.calls).toEqual([
      [1, { source: 'x', operation: 'likes', outcome: 'unknown_operation' }],
    ]);
    expect(await reservedAmounts()).toEqual(reserved);
    count.mockRestore();
  });

  it('is counted as a defect if it fails because of a defect in Earshot', async () => {
    const count = jest.spyOn(metrics.lookups, 'add');
    scene.lookup = () => Promise.reject(new TypeError('a defect'));
    await expect(ask()).rejects.toMatchObject({ message: expect.not.stringContaining('defect') });
    expect(count.mock.calls).toEqual([[1, { source: 'x', operation: 'tweets', outcome: 'defect' }]]);
    count.mockRestore();
  });

  it('is counted as lane_blocked if the lane sends no request, and as blocked if the address is not allowed', async () => {
    const count = jest.spyOn(metrics.lookups, 'add');
    scene.lookup = () => Promise.reject(new UpstreamError('blocked', 'x leads to a private address'));
    expect((await refusalOf(ask()))?.code).toBe('NETWORK');
    scene.lookup = () => Promise.reject(new LaneBlocked());
    expect((await refusalOf(ask()))?.code).toBe('UNAVAILABLE');
    expect(count.mock.calls.map(([, labels]) => labels?.outcome)).toEqual(['blocked', 'lane_blocked']);
    count.mockRestore();
  });

  it('is not published and costs nothing if its answer comes after the deadline', async () => {
    const before = (await facts()).length;
    const answer = scene.lookup;
    scene.lookup = async (...args) => {
      const answered = await answer(...args);
      jest.useFakeTimers({ ...fakeOnly('Date'), now: Date.now() + 61_000 });
      return answered;
    };
    expect(await refusalOf(ask())).toMatchObject({
      kind: 'unavailable',
      message: 'x took too long to respond; nothing was charged',
    });
    jest.useRealTimers();
    expect((await facts()).length).toBe(before);
  });

  it('sends no request to the upstream after the deadline, because its caller has left', async () => {
    expect(await refusalOf(ask('tweets', -1))).toMatchObject({
      kind: 'unavailable',
      message: 'the lookup waited too long; nothing was charged',
    });
    expect(scene.upstream.requests).toEqual([]);
  });

  it('sends no request and leaves no fact if its turn would come too late', async () => {
    scene.upstream.requestsPerMinute = 1;
    await scene.restart();
    expect((await ask()).found).toBe(2);
    const before = (await facts()).length;
    expect(await refusalOf(ask())).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'no request to x can be sent at the moment; try again later; nothing was charged',
    });
    expect([scene.upstream.requests.length, (await facts()).length]).toEqual([1, before]);
  });

  it('is refused while the whole lane is blocked, and the error states the reason', async () => {
    await scene.lane.failed(
      new UpstreamError('unauthorized', 'x answered 401: check SOURCE_X_TOKEN', 401),
      'a',
    );
    expect(await refusalOf(ask())).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('check SOURCE_X_TOKEN'),
    });
    expect(scene.upstream.requests).toEqual([]);
  });

  it('reserves its maximum cost before the request, and keeps this reservation until the charge', async () => {
    const during: number[][] = [];
    const answers = scene.lookup;
    scene.lookup = async (...args) => {
      during.push(await reservedAmounts());
      return answers(...args);
    };
    const commandId = newId();
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    // One for the question and one for each of three ids.
    expect(during).toEqual([[4]]);
    await scene.stores.database.query(
      `UPDATE credit_reservations SET expires_at = now() - interval '1 minute' WHERE expires_at < 'infinity'`,
    );
    expect(await scene.stores.reservations()).toEqual({ [commandId]: 4 });
  });

  it('is refused if the account cannot pay, states the missing credits, and sends no request [errors.credits]', async () => {
    await fundAccount(scene.stores.database, accountId, 3);
    expect(await refusalOf(ask())).toEqual({
      kind: 'not-covered',
      code: 'INSUFFICIENT_CREDITS',
      message: '4 credits are needed, 3 are left',
    });
    await fundAccount(scene.stores.database, accountId, 1);
    const refused: unknown = await ask('user').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      details: [{ path: 'credits', message: '3 credits are needed, 1 is left' }],
    });
    expect([scene.upstream.requests, await reservedAmounts()]).toEqual([[], []]);
  });

  it('does not use credits of its account that are already reserved', async () => {
    await fundAccount(scene.stores.database, accountId, 5);
    await reserve(scene.stores.database, [
      { reservationId: newId(), accountId, credits: 3, lifetimeSeconds: 60 },
    ]);
    expect(await refusalOf(ask('user'))).toMatchObject({ message: '3 credits are needed, 2 are left' });
  });

  it('releases its reservation if it fails or is too late, and keeps the reservation if the object does not exist', async () => {
    await refusalOf(ask('tweets', -1));
    expect(await reservedAmounts()).toEqual([]);
    scene.lookup = () => Promise.reject(new UpstreamError('timeout', 'x did what it did'));
    await refusalOf(ask());
    expect(await reservedAmounts()).toEqual([]);
    scene.lookup = async () => ({
      kind: 'refused',
      code: 'USER_NOT_FOUND',
      message: 'There is no such user',
    });
    await refusalOf(ask('user'));
    expect(await reservedAmounts()).toEqual([3]);
  });

  it('leaves one fact and one reservation if it is sent again with its id', async () => {
    const commandId = newId();
    const before = (await facts()).length;
    const first = await ask('tweets', 60_000, commandId);
    const second = await ask('tweets', 60_000, commandId);
    expect(second).toEqual(first);
    expect([(await facts()).length - before, await reservedAmounts()]).toEqual([1, [4]]);
  });

  it.each([
    ['sent again while it runs', 0],
    ['sent before and still runs', 1],
  ])('keeps its reservation after a failure if the same lookup was %s', async (_, failing) => {
    const commandId = newId();
    const gates: ((answer: LookupAnswer | Promise<never>) => void)[] = [];
    scene.lookup = () => new Promise((resolve) => gates.push(resolve));
    const asked = [ask('tweets', 60_000, commandId)];
    await until('the first request is sent', () => gates.length === 1);
    asked.push(ask('tweets', 60_000, commandId));
    await until('the second request is sent', () => gates.length === 2);
    gates[failing]?.(Promise.reject(new UpstreamError('timeout', 'x did not answer')));
    expect(await refusalOf(asked[failing]!)).toMatchObject({ kind: 'unavailable' });
    expect(await reservedAmounts()).toHaveLength(1);
    gates[1 - failing]?.({ kind: 'found', body: {}, found: 1 });
    await asked[1 - failing];
    expect(await reservedAmounts()).toHaveLength(1);
  });

  it('costs the same and adds no fact if it is repeated after the stream has forgotten its id [limits.key-24h]', async () => {
    await scene.stores.bus.jsm.streams.update('LOOKUPS', { duplicate_window: 100_000_000 });
    const commandId = newId();
    const before = (await facts()).length;
    await ask('tweets', 60_000, commandId);
    // The stream no longer recognises the repeated id. If the worker did not look for the earlier fact, the fact would
    // be stored a second time.
    await until('the stream has forgotten the id', async () => {
      const ack = await scene.stores.bus.js.publish(subjectOf('LOOKUPS', newId()), '', { msgID: commandId });
      return !ack.duplicate;
    });
    const answers = scene.lookup;
    scene.lookup = async (...args) => ({ ...(await answers(...args)), found: 1 });
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    expect([(await facts()).length - before, await reservedAmounts()]).toEqual([1, [4]]);
    // Writes the rows that billing writes when it charges the lookup.
    await scene.stores.database.query('DELETE FROM credit_reservations');
    await scene.stores.database.query(
      `INSERT INTO credit_movements (movement_id, account_id, seq, place, at, fact_at, kind, amount, balance_after,
         reference, rate, units) VALUES ($1, $2, 1, 0, now(), now(), 'charge', -3, 6, $3, 3, 1)`,
      [chargeIdOf(commandId), accountId, commandId],
    );
    await fundAccount(scene.stores.database, accountId, 0);
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    expect([(await facts()).length - before, await reservedAmounts()]).toEqual([1, []]);
  });

  it('is published if it is sent again after its process has died before the publication', async () => {
    const commandId = newId();
    const before = (await facts()).length;
    await reserve(scene.stores.database, [
      { reservationId: commandId, accountId, credits: 4, lifetimeSeconds: 60 },
    ]);
    await keepUntilCharged(scene.stores.database, 'LOOKUPS', [commandId]);
    await ask('tweets', 60_000, commandId);
    expect([(await facts()).length - before, await reservedAmounts()]).toEqual([1, [4]]);
  });

  it('is answered even if Postgres fails after its fact is stored, because it will be charged', async () => {
    const { database, store } = scene.stores;
    const publish = store.publish.bind(store);
    jest.spyOn(store, 'publish').mockImplementationOnce(async (...message) => {
      await publish(...message);
      const outage = new QueryFailedError('DELETE', [], new Error('Connection terminated'));
      jest.spyOn(database, 'query').mockRejectedValueOnce(outage);
    });
    const before = (await facts()).length;
    expect((await ask()).costCredits).toBe(3);
    expect((await facts()).length - before).toBe(1);
    jest.restoreAllMocks();
  });

  it('warns of a possible charge if its fact is not acknowledged, and is charged only once if it is repeated', async () => {
    const { store } = scene.stores;
    const publish = store.publish.bind(store);
    jest.spyOn(store, 'publish').mockImplementationOnce(async (...message) => {
      await publish(...message);
      throw new TimeoutError();
    });
    const before = (await facts()).length;
    const commandId = newId();
    expect(await refusalOf(ask('tweets', 60_000, commandId))).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'a store did not confirm the charge; it is not known whether the request was charged',
    });
    jest.restoreAllMocks();
    expect((await ask('tweets', 60_000, commandId)).costCredits).toBe(3);
    expect([(await facts()).length - before, await reservedAmounts()]).toEqual([1, [4]]);
  });

  it('is unavailable if the account has no open ledger, and the error says to try again', async () => {
    await scene.stores.database.query('DELETE FROM credit_balances WHERE account_id = $1', [accountId]);
    expect(await refusalOf(ask())).toEqual({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: 'the account’s ledger is not open yet; try again',
    });
    expect(scene.upstream.requests).toEqual([]);
  });

  it('is unavailable if no replica answers', async () => {
    await scene.worker.stop();
    expect(await refusalOf(ask())).toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
  });
});
