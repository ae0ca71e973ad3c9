import { BatchAttempts } from './batch-attempts.js';
import type { AttemptCallback, Delivery } from './delivery.js';
import { EndpointQueues } from './endpoint-queues.js';

let callbacks: Map<Delivery, AttemptCallback>;
let queues: EndpointQueues;
beforeEach(() => {
  callbacks = new Map();
  queues = new EndpointQueues((delivery, callback) => callbacks.set(delivery, callback), 10);
});

const deliveryTo = (endpoint: string): Delivery => ({
  eventId: 'e',
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
});
const resultOf = (delivery: Delivery) => ({
  delivery,
  at: 0,
  durationMs: 0,
  statusCode: 200,
  delivered: true,
  message: '',
});
const answer = (delivery: Delivery | undefined) => {
  if (delivery) callbacks.get(delivery)?.(undefined, resultOf(delivery));
};

describe('the attempts of a batch', () => {
  it('are complete when each has a result', async () => {
    const deliveries = ['a', 'b'].map(deliveryTo);
    const batch = new BatchAttempts(deliveries, queues);
    for (const delivery of deliveries) answer(delivery);
    await batch.settled;
    expect(batch.close()).toEqual({ results: deliveries.map(resultOf), refused: [], underWay: [] });
  });

  it('are complete immediately if there are none', async () => {
    const batch = new BatchAttempts([], queues);
    await batch.settled;
    expect(batch.close().results).toEqual([]);
  });

  it('settle only their own promises if they end after the batch was closed', async () => {
    const deliveries = ['a', 'b', 'c'].map(deliveryTo);
    const [first, second, third] = deliveries;
    const batch = new BatchAttempts(deliveries, queues);
    answer(first);
    const { results, underWay } = batch.close();
    expect(underWay.map(([delivery]) => delivery)).toEqual([second, third]);
    answer(second);
    if (third) callbacks.get(third)?.(new Error('broke'));
    expect(results.length).toBe(1);
    const ends = await Promise.allSettled(underWay.map(([, attempt]) => attempt));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('are each returned only once, by `take` or by `close`', () => {
    const deliveries = ['a', 'b', 'c'].map(deliveryTo);
    const [first, second, third] = deliveries as [Delivery, Delivery, Delivery];
    const batch = new BatchAttempts(deliveries, queues);
    answer(first);
    const taken = batch.take();
    answer(second);
    expect(taken).toEqual({ results: [resultOf(first)], refused: [], open: [second, third] });
    const { results, underWay } = batch.close();
    expect(results).toEqual([resultOf(second)]);
    expect(underWay.map(([delivery]) => delivery)).toEqual([third]);
  });

  it('keep their results if one attempt throws; only the delivery of that attempt is refused', async () => {
    const deliveries = ['a', 'b'].map(deliveryTo);
    const [first, second] = deliveries as [Delivery, Delivery];
    const batch = new BatchAttempts(deliveries, queues);
    callbacks.get(second)?.(new Error('broke'));
    answer(first);
    await batch.settled;
    expect(batch.close()).toEqual({ results: [resultOf(first)], refused: [second], underWay: [] });
  });

  it('are refused if they are cancelled before they start', () => {
    const deliveries = Array.from({ length: 20 }, () => deliveryTo('a'));
    const batch = new BatchAttempts(deliveries, queues);
    queues.cancelWaiting(batch.open);
    const { refused, underWay } = batch.close();
    expect([refused.length, underWay.length]).toEqual([16, 4]);
  });
});
