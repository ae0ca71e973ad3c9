import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { insertRows, openClickHouse, type ClickHouseClient, type EventRow } from '#clickhouse';
import { EventSchema } from '#contracts';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { EVENTS_INDEX } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, type IsolatedStores } from '#testing';
import { compareEventIndex } from './event-index.js';

const [accountId, watchId] = [newId(), newId()];
let stores: IsolatedStores;
let bus: Bus;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  stores = await isolateStores();
  bus = await connectBus(stores.natsUrl, 'spec', createLogger('spec', 'silent'));
  clickhouse = await openClickHouse(stores.clickhouseUrl, 'spec');
  // The consumer has nothing to do, so the index is compared up to the end of the stream.
  await bus.jsm.consumers.add('EVENTS', {
    durable_name: EVENTS_INDEX,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.New,
    filter_subject: 'events.none.none',
  });
});
afterAll(async () => {
  await clickhouse?.close();
  await bus?.close();
  await stores?.drop();
});

/** Publishes an event. @returns its sequence */
async function publish(event: MessageInitShape<typeof EventSchema>): Promise<number> {
  const data = toBinary(EventSchema, create(EventSchema, event));
  return (await bus.js.publish(subjectOf('EVENTS', accountId, watchId), data)).seq;
}

/** Writes the row of an event. */
async function index(eventId: string, seq: number): Promise<void> {
  await insertRows<EventRow>(clickhouse, 'events', [
    {
      ...{ watch_id: watchId, account_id: accountId, event_id: eventId, stream_seq: seq },
      ...{ occurred_at: new Date().toISOString(), push: true, type: 'hn_item.created', envelope: '' },
    },
  ]);
}

const compared = () => compareEventIndex(bus, clickhouse, 100);

it('the row of a dropped event that a rule has sent agrees with the stream', async () => {
  const eventId = newId();
  const dropped = { reason: 'rule' };
  await index(eventId, await publish({ eventId, accountId, watchId, dropped, ruleWebhook: true }));
  expect(await compared()).toEqual({ compared: 1, missingInIndex: [], missingInStream: [], differing: [] });
});
