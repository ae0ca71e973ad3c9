import { create, toBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { EventSchema, type Event } from '#contracts';
import { EventStore } from '#event-store';
import { isoOf, newId } from '#kernel';
import { connectBus, markFailed, subjectOf, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { publishEvents } from './publish-events.js';

const accountId = newId();
let stores: IsolatedStores;
let bus: Bus;
let store: EventStore;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  store = new EventStore(bus);
});
afterAll(async () => {
  await bus?.close();
  await stores?.drop();
});

const messageOf = (redelivered: boolean) => ({ redelivered }) as JsMsg;
const eventOf = (watchId: string, occurredAt = isoOf(Date.now())) =>
  create(EventSchema, { eventId: newId(), accountId, watchId, occurredAt });

/** Stores an event as if NATS had stored it more than two minutes ago, so that NATS does not know its id any more. */
const stored = (event: Event) =>
  store.publish(subjectOf('EVENTS', accountId, event.watchId), toBinary(EventSchema, event), newId());

const countOf = async (watchId: string) =>
  (await store.read('EVENTS', subjectOf('EVENTS', accountId, watchId))).length;

it('a message that is delivered again publishes only the events that EVENTS does not contain', async () => {
  const watchId = newId();
  const earlier = eventOf(watchId, isoOf(Date.now() - 30_000));
  const [known, missing] = [eventOf(watchId), eventOf(watchId)];
  for (const event of [earlier, known]) await stored(event);
  const events = [known, missing, earlier].map((event) => ({ event, message: messageOf(true) }));
  expect(await publishEvents(store, events)).toBe(1);
  expect(await countOf(watchId)).toBe(3);
});

it('a message that is handled alone after a failure of its batch publishes only the events that EVENTS does not contain', async () => {
  const watchId = newId();
  const event = eventOf(watchId);
  await stored(event);
  const message = messageOf(false);
  markFailed([message]);
  expect(await publishEvents(store, [{ event, message }])).toBe(0);
  expect(await countOf(watchId)).toBe(1);
});

it('a message that is delivered for the first time publishes its events without a read of EVENTS', async () => {
  const reads = jest.spyOn(store, 'readSince');
  const watchId = newId();
  expect(await publishEvents(store, [{ event: eventOf(watchId), message: messageOf(false) }])).toBe(1);
  expect(reads).not.toHaveBeenCalled();
  expect(await countOf(watchId)).toBe(1);
});
