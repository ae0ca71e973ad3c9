import { TimeoutError } from '@nats-io/nats-core';
import { Outage } from '#kernel';
import { createLogger } from '#telemetry';
import { fakeOnly, isolateStores, type IsolatedStores } from '#testing';
import { connectBus, type Bus } from './bus.js';
import { consumerInfo, untilAnswered } from './jetstream-requests.js';

let stores: IsolatedStores;
let bus: Bus;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});
afterEach(() => jest.useRealTimers());

/** Returns a request that fails this number of times. */
function failing(times: number, error: Error): { ask: () => Promise<string>; calls: () => number } {
  let calls = 0;
  return {
    ask: () => {
      calls += 1;
      return calls > times ? Promise.resolve('answer') : Promise.reject(error);
    },
    calls: () => calls,
  };
}

/** Lets the pauses between requests pass. */
async function passPauses(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(1000);
  }
}

describe('a request to JetStream', () => {
  beforeEach(() => {
    jest.useFakeTimers(fakeOnly('setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'));
  });

  it('is repeated until it is answered', async () => {
    const { ask, calls } = failing(3, new TimeoutError());
    const answer = untilAnswered(ask);
    await passPauses(3);
    expect(await answer).toBe('answer');
    expect(calls()).toBe(4);
  });

  it('fails after ten repetitions', async () => {
    const timeout = new TimeoutError();
    const { ask, calls } = failing(20, timeout);
    const answer = untilAnswered(ask);
    const failed = expect(answer).rejects.toThrow(new Outage('NATS', timeout));
    await passPauses(12);
    await failed;
    expect(calls()).toBe(11);
  });

  it('is sent only once if the error is not an outage', async () => {
    const { ask, calls } = failing(1, new Error('bad request'));
    await expect(untilAnswered(ask)).rejects.toThrow('bad request');
    expect(calls()).toBe(1);
  });
});

describe('the state of a consumer', () => {
  it('is undefined if the consumer does not exist', async () => {
    expect(await consumerInfo(bus, 'EVENTS', 'nobody')).toBeUndefined();
  });

  it('cannot be read if the connection is closed: the request fails, and does not return undefined', async () => {
    const closed = await connectBus(stores.natsUrl, 'closed', createLogger('spec', 'silent'));
    await closed.close();
    await expect(consumerInfo(closed, 'EVENTS', 'nobody')).rejects.toThrow();
  });
});
