import { fakeOnly } from '#testing';
import type { AttemptCallback, Delivery } from './delivery.js';
import { EndpointQueues } from './endpoint-queues.js';

/** Keeps requests running until the spec ends them. */
class Receiver {
  readonly begun: Delivery[] = [];
  private readonly ends = new Map<Delivery, AttemptCallback>();

  readonly send = (delivery: Delivery, callback: AttemptCallback): void => {
    this.begun.push(delivery);
    this.ends.set(delivery, callback);
  };

  answer(delivery: Delivery): void {
    this.end(delivery, undefined, 200);
  }

  /** Ends the request without a response. */
  hang(delivery: Delivery): void {
    this.end(delivery, undefined, 0);
  }

  fail(delivery: Delivery, error: Error): void {
    this.end(delivery, error, 0);
  }

  private end(delivery: Delivery, error: Error | undefined, statusCode: number): void {
    const callback = this.ends.get(delivery);
    this.ends.delete(delivery);
    const result = { delivery, at: 0, durationMs: 0, statusCode, delivered: statusCode === 200, message: '' };
    callback?.(error, error ? undefined : result);
  }
}

let made = 0;
function deliveryTo(endpoint: string): Delivery {
  made += 1;
  return {
    eventId: `event ${made}`,
    accountId: 'a',
    watchId: 'w',
    keywordId: '',
    source: 'rss',
    endpoint,
    body: new Uint8Array(),
    signing: { secrets: [], legacy: false },
    target: { kind: 'webhook', id: '' },
    attempts: 0,
    firstAt: 0,
    failingSince: undefined,
    pending: false,
  };
}

const many = (count: number, endpoint = 'one') => Array.from({ length: count }, () => deliveryTo(endpoint));
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the queues of endpoints', () => {
  let receiver: Receiver;
  let queues: EndpointQueues;

  beforeEach(() => {
    jest.useFakeTimers(fakeOnly('Date'));
    receiver = new Receiver();
    queues = new EndpointQueues(receiver.send, 2);
  });
  afterEach(() => jest.useRealTimers());

  it('send at most the permitted number of concurrent requests to one endpoint, and the rest in order', async () => {
    const deliveries = many(4);
    const results = deliveries.map((one) => queues.attempt(one));
    expect(receiver.begun).toEqual(deliveries.slice(0, 2));
    expect(queues.full()).toEqual(['one']);
    for (const [n, delivery] of deliveries.entries()) {
      receiver.answer(delivery);
      await turn();
      expect(receiver.begun.length).toBe(Math.min(4, n + 3));
    }
    expect((await Promise.all(results)).map((result) => result?.delivery)).toEqual(deliveries);
    expect(receiver.begun).toEqual(deliveries);
    expect(queues.full()).toEqual([]);
  });

  it('send few requests at first, more after a response, and few again after all requests have ended', () => {
    queues = new EndpointQueues(receiver.send, 8);
    const first = many(12);
    for (const delivery of first) queues.submit(delivery, () => undefined);
    expect(receiver.begun.length).toBe(4);
    receiver.answer(first[0]!);
    expect(receiver.begun.length).toBe(9);
    for (const delivery of first.slice(1)) receiver.answer(delivery);
    expect(receiver.begun.length).toBe(12);
    for (const delivery of many(12)) queues.submit(delivery, () => undefined);
    expect(receiver.begun.length).toBe(12 + 4);
  });

  it('do not delay other endpoints', () => {
    for (const delivery of many(5, 'hanging')) void queues.attempt(delivery);
    const other = deliveryTo('other');
    void queues.attempt(other);
    expect(receiver.begun).toContain(other);
    expect(queues.full()).toEqual(['hanging']);
  });

  it('stop sending to a slow endpoint, and immediately report that new deliveries to it are not attempted', async () => {
    for (const delivery of many(2)) void queues.attempt(delivery);
    jest.advanceTimersByTime(250);
    const patient = queues.attempt(deliveryTo('one'));
    jest.advanceTimersByTime(1);
    expect(await queues.attempt(deliveryTo('one'))).toBeUndefined();
    expect(receiver.begun.length).toBe(2);
    for (const delivery of receiver.begun) receiver.answer(delivery);
    await turn();
    for (const delivery of receiver.begun) receiver.answer(delivery);
    expect((await patient)?.statusCode).toBe(200);
  });

  it('report deliveries as late only if each has a request, or waits for a request, that has run for 50 ms', () => {
    const [first, second, third] = many(3) as [Delivery, Delivery, Delivery];
    for (const delivery of [first, second, third]) queues.submit(delivery, () => undefined);
    jest.advanceTimersByTime(49);
    expect(queues.areLate([first, third])).toBe(false);
    jest.advanceTimersByTime(1);
    expect(queues.areLate([first, second, third])).toBe(true);
    const quick = deliveryTo('two');
    queues.submit(quick, () => undefined);
    expect(queues.areLate([first, quick])).toBe(false);
  });

  it('do not report a delivery as late if it waits only because all endpoints together have reached their limit', () => {
    queues = new EndpointQueues(receiver.send, 2, 2);
    for (const delivery of many(2)) queues.submit(delivery, () => undefined);
    const waiting = deliveryTo('two');
    queues.submit(waiting, () => undefined);
    jest.advanceTimersByTime(200);
    expect(queues.areLate([waiting])).toBe(false);
  });

  it('are removed from memory when they have no request, but the queue of an endpoint that hung stays until the endpoint responds', () => {
    jest.useFakeTimers(fakeOnly('Date', 'setInterval', 'clearInterval'));
    queues = new EndpointQueues(receiver.send, 2, 101);
    const inMemory = () => [...queues['queues'].keys()];
    const endpoints = Array.from({ length: 100 }, (_, n) => `endpoint ${n}`);
    const [hanging, cancelled] = [deliveryTo('hanging'), deliveryTo('cancelled')];
    for (const delivery of [hanging, ...endpoints.map(deliveryTo), cancelled])
      queues.submit(delivery, () => undefined);
    expect(inMemory()).toEqual(['hanging', ...endpoints, 'cancelled']);
    jest.advanceTimersByTime(50);
    expect(inMemory().length).toBe(102);
    queues.cancelWaiting(new Set([cancelled]));
    for (const delivery of receiver.begun.slice(1)) receiver.answer(delivery);
    jest.advanceTimersByTime(50);
    expect(inMemory()).toEqual(['hanging']);
    jest.advanceTimersByTime(300);
    receiver.hang(hanging);
    jest.advanceTimersByTime(50);
    expect(inMemory()).toEqual(['hanging']);
    const next = deliveryTo('hanging');
    queues.submit(next, () => undefined);
    receiver.answer(next);
    jest.advanceTimersByTime(50);
    expect(inMemory()).toEqual([]);
  });

  it('are removed from memory after 15 minutes without a request, even if their endpoint hung', () => {
    jest.useFakeTimers(fakeOnly('Date', 'setInterval', 'clearInterval'));
    queues = new EndpointQueues(receiver.send, 2, 101);
    const inMemory = () => [...queues['queues'].keys()];
    const busy = deliveryTo('busy');
    for (const delivery of [busy, deliveryTo('hanging')]) queues.submit(delivery, () => undefined);
    jest.advanceTimersByTime(300);
    receiver.hang(receiver.begun[1]!);
    jest.advanceTimersByTime(15 * 60_000);
    expect(inMemory()).toEqual(['busy', 'hanging']);
    jest.advanceTimersByTime(100);
    expect(inMemory()).toEqual(['busy']);
    receiver.answer(busy);
    jest.advanceTimersByTime(100);
  });

  it('cancel requests that have not started, and do not end running requests', async () => {
    const deliveries = many(4);
    const results = deliveries.map((one) => queues.attempt(one));
    queues.cancelWaiting(new Set(deliveries.slice(0, 3)));
    expect(await results[2]).toBeUndefined();
    for (const delivery of deliveries.slice(0, 2)) receiver.answer(delivery);
    await turn();
    expect(receiver.begun).toEqual([deliveries[0], deliveries[1], deliveries[3]]);
    receiver.answer(deliveries[3] as Delivery);
    expect(
      (await Promise.all([results[0], results[1], results[3]])).map((result) => result?.delivered),
    ).toEqual([true, true, true]);
  });

  it('continue after an attempt that throws, and report each error to its own caller', async () => {
    const deliveries = many(4);
    const results = deliveries.map((one) => queues.attempt(one));
    const outcomes = Promise.allSettled(results);
    receiver.fail(deliveries[0] as Delivery, new Error('first'));
    await turn();
    receiver.fail(deliveries[2] as Delivery, new Error('third'));
    await turn();
    for (const n of [1, 3]) receiver.answer(deliveries[n] as Delivery);
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('handle thousands of requests that end immediately, and the call stack does not grow', () => {
    // The spec ends the running request. All other requests wait for it. Each of them then ends inside the call that sends it.
    let release: () => void = () => undefined;
    let sent = 0;
    const sender = new EndpointQueues((delivery, callback) => {
      const end = () =>
        callback(undefined, {
          delivery,
          at: 0,
          durationMs: 0,
          statusCode: 0,
          delivered: false,
          message: 'refused',
        });
      sent += 1;
      if (sent === 1) release = end;
      else end();
    }, 1);
    let ended = 0;
    const order: Delivery[] = [];
    const deliveries = many(20_000);
    for (const delivery of deliveries)
      sender.submit(delivery, () => {
        ended += 1;
        order.push(delivery);
      });
    expect(ended).toBe(0);
    release();
    expect(ended).toBe(20_000);
    expect(order.every((delivery, n) => delivery === deliveries[n])).toBe(true);
  });
});
