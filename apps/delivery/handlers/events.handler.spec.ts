import { create, toBinary } from '@bufbuild/protobuf';
import { EventSchema } from '#contracts';
import { newId } from '#kernel';
import { markFailed, markOlder } from '#messaging';
import type { Database } from '#postgres';
import { createLogger } from '#telemetry';
import { until } from '#testing';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { AttemptCallback, AttemptResult, Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import type { CausedEvent, FirstDeliveries } from '../attempts/first-deliveries.js';
import { EventsHandler } from './events.handler.js';

const callbacks = new Map<string, AttemptCallback>();
const answer = (eventId: string) => callbacks.get(eventId)?.(undefined, resultOf(eventId));
/** Events whose endpoints answer immediately. A busy machine must not make them late. */
const quickIds = new Set<string>();
const quickId = () => {
  const id = newId();
  quickIds.add(id);
  return id;
};

/** The results that each call of `record` got. While `isHeld` is true, calls wait. */
const recorded: string[][] = [];
let isHeld = false;
let isBroken = false;
const held: (() => void)[] = [];

const queues = new EndpointQueues(({ eventId }, callback) => {
  callbacks.set(eventId, callback);
  if (quickIds.has(eventId)) queueMicrotask(() => answer(eventId));
}, 10);
/** The ids of events that the handler has marked as repeated. */
const repeatedIds: string[] = [];
const first = {
  of: (events: readonly CausedEvent[]) => {
    repeatedIds.push(
      ...events.filter((one) => one.handledSince !== undefined).map(({ event }) => event.eventId),
    );
    return Promise.resolve({
      deliveries: events.map(({ event }) => deliveryOf(event.eventId)),
      paced: [],
      unsent: [],
    });
  },
};
const recorder = {
  giveUp: () => Promise.resolve(),
  record: async (results: readonly AttemptResult[]) => {
    if (isBroken) throw new Error('the store is down');
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    if (results.length > 0) recorded.push(results.map(({ delivery }) => delivery.eventId));
  },
};
const handler = new EventsHandler(
  // No delivery is stored in this spec, so no SQL statement is sent.
  { manager: {} } as Database,
  first as unknown as FirstDeliveries,
  queues,
  recorder as unknown as AttemptRecorder,
  createLogger('spec', 'silent'),
);

const messageOf = (eventId: string) => ({
  data: toBinary(EventSchema, create(EventSchema, { eventId, push: true })),
  ...{ seq: 1, time: new Date(), redelivered: false },
});
let endpointOf = (eventId: string) => eventId;
const deliveryOf = (eventId: string): Delivery => ({
  ...{ eventId, accountId: 'a', watchId: 'w', keywordId: '', source: 'rss', endpoint: endpointOf(eventId) },
  ...{ body: new Uint8Array(), signing: { secrets: [], legacy: false }, target: { kind: 'webhook', id: '' } },
  ...{ attempts: 0, firstAt: 0, failingSince: undefined, pending: false },
});
const resultOf = (eventId: string): AttemptResult => ({
  ...{ delivery: deliveryOf(eventId), at: 0, durationMs: 0, statusCode: 200, delivered: true, message: '' },
});

beforeEach(() => {
  callbacks.clear();
  recorded.length = 0;
  repeatedIds.length = 0;
  isHeld = false;
  isBroken = false;
});

describe('a batch of events', () => {
  it('is done when each attempt is recorded', async () => {
    const [a, b] = [quickId(), quickId()];
    const handled = handler.handle([messageOf(a), messageOf(b)]);
    expect((await handled).map(({ kind }) => kind)).toEqual(['done', 'done']);
    expect(recorded).toEqual([[a, b]]);
  });

  it('does not wait for an endpoint that answers late; the event is done after the answer is recorded', async () => {
    const [quick, late] = [quickId(), newId()];
    const handled = handler.handle([messageOf(quick), messageOf(late)]);
    const [one, other] = await handled;
    expect([one?.kind, other?.kind]).toEqual(['done', 'later']);
    expect(recorded).toEqual([[quick]]);
    answer(late);
    expect(other?.kind === 'later' && (await other.outcome)).toEqual({ kind: 'done' });
    expect(recorded).toEqual([[quick], [late]]);
  });

  it('records even an attempt that ends while earlier attempts are being recorded', async () => {
    const [quick, late] = [quickId(), newId()];
    isHeld = true;
    const handled = handler.handle([messageOf(quick), messageOf(late)]);
    await until('the first is being recorded', () => held.length === 1);
    answer(late);
    isHeld = false;
    held.pop()?.();
    const [, other] = await handled;
    expect(other?.kind === 'later' && (await other.outcome)).toEqual({ kind: 'done' });
    expect(recorded).toEqual([[quick], [late]]);
  });

  it('sends no waiting request after its attempts could not be recorded, because its events are delivered again', async () => {
    endpointOf = () => 'same';
    isBroken = true;
    const ids = Array.from({ length: 10 }, () => newId());
    const handled = handler.handle(ids.map(messageOf));
    await until('the first four are sent', () => callbacks.size === 4);
    await expect(handled).rejects.toThrow('the store is down');
    for (const id of [...callbacks.keys()]) answer(id);
    expect(callbacks.size).toBe(4);
  });

  it('marks events that it gets a second time, after a failure or a redelivery by the server', async () => {
    const ids = [quickId(), quickId()];
    const [failed, redelivered] = ids.map(messageOf);
    isBroken = true;
    await expect(handler.handle([failed!])).rejects.toThrow('the store is down');
    expect(repeatedIds).toEqual([]);
    isBroken = false;
    markFailed([failed!]);
    await handler.handle([failed!, { ...redelivered!, redelivered: true }, messageOf(quickId())]);
    expect(repeatedIds).toEqual(ids);
  });

  it('does not deliver events that are older than 48 hours if its consumer is new', async () => {
    const ids = [quickId(), quickId(), quickId()];
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const [old, young, waited] = ids.map(messageOf);
    const batch = [
      { ...old!, time: hoursAgo(49) },
      { ...young!, time: hoursAgo(47) },
      { ...waited!, time: hoursAgo(49) },
    ];
    batch.slice(0, 2).forEach(markOlder);
    expect((await handler.handle(batch)).map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
    expect(recorded).toEqual([[ids[1], ids[2]]]);
    expect(repeatedIds).toEqual([ids[1]]);
  });
});
