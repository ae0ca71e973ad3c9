import { create, toBinary } from '@bufbuild/protobuf';
import { ChannelConfigSchema, EventSchema } from '#contracts';
import { newId } from '#kernel';
import { SecretBox } from '#secrets';
import { PendingClaims } from '../attempts/claims.js';
import type { Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { FirstDeliveries } from '../attempts/first-deliveries.js';
import { savePending } from '../attempts/pending-deliveries.js';
import { Targets } from '../attempts/targets.js';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import { readPushedEvent } from '../wire/pushed-event.reader.js';
import { ChannelDecisions } from './channel-decisions.js';
import { Channels } from './channels.js';
import { ChannelPace } from './pace.js';

const KEY = '5e'.repeat(32);

let delivery: DeliveryUnderTest;

beforeAll(async () => (delivery = await openDelivery()));
afterAll(() => delivery?.drop());

async function channel(name: string): Promise<string> {
  const { database, store, accountId } = delivery;
  const channelId = newId();
  const secretEncrypted = new SecretBox(KEY).seal('https://hooks.example.org/x');
  const config = create(ChannelConfigSchema, { secretEncrypted, secretLast4: 'rg/x' });
  await new ChannelDecisions(database, store).run({ accountId, channelId }, newId(), {
    ...{ kind: 'create', channelKind: 'slack', name, config, existing: 0 },
  });
  return channelId;
}

it('the message about a disabled channel contains the name of that channel at the first and at later attempts', async () => {
  const { database, store, accountId } = delivery;
  const [channelId, disabledId] = [await channel('team'), await channel('old team')];
  const keywordId = newId();
  const channels = [channelId, disabledId].map((id) => ({ channelId: id, mode: 'instant' }));
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     VALUES ($1, $2, 'acme', 'active', $3, now(), now(), 1)`,
    [keywordId, accountId, { channels }],
  );
  const type = 'channel.disabled';
  const envelope = Buffer.from(JSON.stringify({ type, data: { channelId: disabledId } }));
  const ids = { eventId: newId(), accountId, watchId: keywordId, keywordId };
  const event = readPushedEvent(
    toBinary(EventSchema, create(EventSchema, { ...ids, type, envelope, push: true })),
  );
  const [targets, found] = [
    new Targets(database, new SecretBox(KEY)),
    new Channels(database, new SecretBox(KEY)),
  ];
  const first = new FirstDeliveries(database, store, targets, found, new ChannelPace());
  const caused = { event, cause: undefined, seq: 1, storedAt: Date.now(), handledSince: undefined };
  const { deliveries } = await first.of([caused]);
  await savePending(database.manager, deliveries);
  const queues = new EndpointQueues(() => undefined, 1);
  const claims = new PendingClaims(database, store, targets, found, new ChannelPace(), queues);
  const { ready } = await claims.claim({ byMail: false, perEndpoint: 10, max: 10 });
  const named = (all: readonly Delivery[]) =>
    all.map(({ endpoint, destination }) => [endpoint, destination?.disabledName]);
  const expected = [[`channel:${channelId}`, 'old team']];
  expect([named(deliveries), named(ready)]).toEqual([expected, expected]);
});
