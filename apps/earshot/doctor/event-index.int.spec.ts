import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { insertRows, openClickHouse, selectRows, type ClickHouseClient, type EventRow } from '#clickhouse';
import { EventSchema } from '#contracts';
import { newId } from '#kernel';
import { connectBus, subjectOf, type Bus } from '#messaging';
import { EVENTS_INDEX } from '#projections';
import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { compareEventIndex, removeWrongSequences } from './event-index.js';

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
async function index(eventId: string, seq: number, occurredAt = new Date()): Promise<void> {
  await insertRows<EventRow>(clickhouse, 'events', [
    {
      ...{ watch_id: watchId, account_id: accountId, event_id: eventId, stream_seq: seq },
      ...{ occurred_at: occurredAt.toISOString(), push: true, type: 'hn_item.created', envelope: '' },
    },
  ]);
}

/** Removes wrong sequences. Resolves when ClickHouse has changed the rows. */
async function removed(): Promise<void> {
  await removeWrongSequences(bus, clickhouse);
  await until('the rows are changed', async () => {
    const [one] = await selectRows<{ open: string }>(
      clickhouse,
      `SELECT count() AS open FROM system.mutations WHERE database = currentDatabase() AND table = 'events' AND NOT is_done`,
    );
    return Number(one?.open) === 0;
  });
}

/** @returns id and sequence of each row of these events */
async function sequencesOf(...ids: string[]): Promise<string[]> {
  const rows = await selectRows<{ id: string; seq: string }>(
    clickhouse,
    'SELECT toString(event_id) AS id, stream_seq AS seq FROM events WHERE event_id IN ({ids: Array(UUID)})',
    { ids },
  );
  return rows.map(({ id, seq }) => `${id} ${seq}`);
}

const compared = () => compareEventIndex(bus, clickhouse, 100);

it('the row of a dropped event that a rule has sent agrees with the stream', async () => {
  const eventId = newId();
  const dropped = { reason: 'rule' };
  await index(eventId, await publish({ eventId, accountId, watchId, dropped, ruleWebhook: true }));
  expect(await compared()).toEqual({ compared: 1, missingInIndex: [], missingInStream: [], differing: [] });
});

it('a rebuild of the index removes wrong sequences from the rows of events that NATS lost', async () => {
  const [kept, lost, lostToo, found, later] = [newId(), newId(), newId(), newId(), newId()];
  const last = await publish({ eventId: kept, accountId, watchId });
  await index(kept, last);
  // An older copy of NATS ended here. Two later events are lost, and other messages have their sequences.
  for (const [n, eventId] of [lost, lostToo, found].entries()) await index(eventId, last + 1 + n);
  await publish({ eventId: newId(), accountId, watchId, dropped: { reason: 'muted' } });
  await index(found, await publish({ eventId: found, accountId, watchId }));
  expect((await compared()).missingInStream).toEqual(expect.arrayContaining([lost, found]));
  await removed();
  expect(new Set(await sequencesOf(kept, lost, lostToo, found))).toEqual(
    new Set([`${kept} ${last}`, `${lost} 0`, `${lostToo} 0`, `${found} 0`]),
  );
  await index(found, last + 2);
  await index(later, await publish({ eventId: later, accountId, watchId }));
  expect(await compared()).toMatchObject({ missingInIndex: [], missingInStream: [], differing: [] });
});

it('a rebuild of the index removes both sequences of a lost event that was found again with the same sequence', async () => {
  const eventId = newId();
  const seq = await publish({ eventId, accountId, watchId });
  await index(eventId, seq, new Date(Date.now() - 60_000));
  await index(eventId, seq);
  await removed();
  expect(await sequencesOf(eventId)).toEqual([`${eventId} 0`, `${eventId} 0`]);
});
