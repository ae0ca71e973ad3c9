import { create, toBinary } from '@bufbuild/protobuf';
import { ChannelConfigSchema, EventSchema } from '#contracts';
import { newId } from '#kernel';
import { SecretBox } from '#secrets';
import { createLogger } from '#telemetry';
import type { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { claimPending } from '../attempts/claim-pending.js';
import { dropPending, returnPending } from '../attempts/pending-deliveries.js';
import { FirstDeliveries } from '../attempts/first-deliveries.js';
import { Targets } from '../attempts/targets.js';
import { ChannelDecisions } from '../channels/channel-decisions.js';
import { Channels } from '../channels/channels.js';
import type { ChannelPace } from '../channels/pace.js';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import { EventsHandler } from './events.handler.js';

const KEY = '5e'.repeat(32);

let delivery: DeliveryUnderTest;
let keywordId: string;

beforeAll(async () => {
  delivery = await openDelivery();
  const { database, store, accountId } = delivery;
  const channelId = newId();
  const secretEncrypted = new SecretBox(KEY).seal('https://hooks.example.org/x');
  const config = create(ChannelConfigSchema, { secretEncrypted, secretLast4: 'rg/x' });
  await new ChannelDecisions(database, store).run({ accountId, channelId }, newId(), {
    ...{ kind: 'create', channelKind: 'slack', name: 'team', config, existing: 0 },
  });
  keywordId = newId();
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'acme', 'active', $3, now(), now(), 1)`,
    [keywordId, accountId, { channels: [{ channelId, mode: 'instant' }] }],
  );
});
afterAll(() => delivery?.drop());
beforeEach(() => delivery.database.query('DELETE FROM pending_deliveries'));
afterEach(() => void jest.restoreAllMocks());

/** Returns the handler of one replica, at which every message to a channel waits. */
function replica(): EventsHandler {
  const { database } = delivery;
  const box = new SecretBox(KEY);
  const pace = { take: () => false } as unknown as ChannelPace;
  const reads = [new Targets(database, box), new Channels(database, box)] as const;
  const first = new FirstDeliveries(database, delivery.store, ...reads, pace);
  const recorder = { giveUp: () => Promise.resolve(), record: () => Promise.resolve() };
  return new EventsHandler(
    ...([database, first, new EndpointQueues(() => undefined, 10)] as const),
    ...([recorder as unknown as AttemptRecorder, createLogger('spec', 'silent')] as const),
  );
}

function messageOf(seq: number, time: number) {
  const event = { eventId: newId(), accountId: delivery.accountId, watchId: newId(), keywordId, push: true };
  const data = toBinary(
    EventSchema,
    create(EventSchema, { ...event, source: 'rss', type: 'rss_item.created', envelope: Buffer.from('{}') }),
  );
  return { eventId: event.eventId, data, seq, time: new Date(time), redelivered: false };
}

async function waitingInOrder(): Promise<string[]> {
  const rows: { event_id: string }[] = await delivery.database.query(
    'SELECT event_id FROM pending_deliveries ORDER BY due_at, event_seq',
  );
  return rows.map(({ event_id }) => event_id);
}

describe('the messages that wait for a channel', () => {
  it('are in the order of the stream, although two replicas with different clocks get the events alternately', async () => {
    const now = Date.now();
    const messages = Array.from({ length: 10 }, (_, n) => messageOf(n + 1, now - 10_000 + n));
    const clock = jest.spyOn(Date, 'now');
    for (const [ahead, turn] of [
      [60_000, 0],
      [0, 1],
    ] as const) {
      clock.mockReturnValue(now + ahead);
      await replica().handle(messages.filter((_, n) => n % 2 === turn));
    }
    expect(await waitingInOrder()).toEqual(messages.map(({ eventId }) => eventId));
  });

  it('are in the order of the stream even if two replicas get messages that were stored in the same millisecond', async () => {
    const at = Date.now() - 10_000;
    const messages = Array.from({ length: 10 }, (_, n) => messageOf(n + 1, at));
    for (const turn of [1, 0]) await replica().handle(messages.filter((_, n) => n % 2 === turn));
    expect(await waitingInOrder()).toEqual(messages.map(({ eventId }) => eventId));
  });

  it('are claimed by one replica at a time, in the order of the stream', async () => {
    const messages = Array.from({ length: 6 }, (_, n) => messageOf(n + 1, Date.now() - 10_000 + n));
    await replica().handle(messages);
    const claim = (perEndpoint: number) =>
      claimPending(delivery.database, { byMail: false, perEndpoint, max: 100 });
    const claims = await Promise.all([claim(2), claim(2)]);
    const [taken = [], none = []] = claims.sort((a, b) => b.length - a.length);
    expect([taken, none].map((one) => one.map(({ eventId }) => eventId))).toEqual([
      messages.slice(0, 2).map(({ eventId }) => eventId),
      [],
    ]);
    await returnPending(delivery.database, taken.slice(1));
    await dropPending(delivery.database.manager, taken.slice(0, 1));
    expect((await claim(10)).map(({ eventId }) => eventId)).toEqual(
      messages.slice(1).map(({ eventId }) => eventId),
    );
  });

  it('are claimed when due, even if later messages are not due because the clock of NATS is ahead', async () => {
    const now = Date.now();
    const [due, later] = [messageOf(1, now - 1000), messageOf(2, now + 5000)];
    await replica().handle([due, later]);
    const claimed = await claimPending(delivery.database, { byMail: false, perEndpoint: 10, max: 100 });
    expect(claimed.map(({ eventId }) => eventId)).toEqual([due.eventId]);
  });

  it('are retried for 48 hours after the delivery service gets their events, even if the events are older', async () => {
    const now = Date.now();
    await replica().handle([messageOf(1, now - 49 * 3_600_000)]);
    const [claimed] = await claimPending(delivery.database, { byMail: false, perEndpoint: 1, max: 1 });
    expect(claimed?.firstAt).toBeGreaterThanOrEqual(now);
  });

  it('keep the order of the stream even if a replica handles the later messages first', async () => {
    const now = Date.now();
    const messages = Array.from({ length: 6 }, (_, n) => messageOf(n + 1, now - 10_000 + n));
    const one = replica();
    await one.handle(messages.slice(3));
    await one.handle(messages.slice(0, 3));
    expect(await waitingInOrder()).toEqual(messages.map(({ eventId }) => eventId));
  });
});
