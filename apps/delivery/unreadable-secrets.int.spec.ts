import { newId } from '#kernel';
import { newSigningSecret, SecretBox } from '#secrets';
import { until } from '#testing';
import { savePending } from './attempts/pending-deliveries.js';
import { channelEndpoint } from './channels/channel.js';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

let delivery: DeliveryUnderTest;
let receiver: Receiver;

beforeAll(async () => {
  delivery = await openDelivery();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});

/** A secret that was encrypted with a key that MASTER_KEY does not contain. */
const unreadable = () => new SecretBox('ab'.repeat(32)).seal(newSigningSecret());

/** Stores a delivery that is due. */
async function store(accountId: string, watchId: string, endpoint: string): Promise<void> {
  const target = { kind: endpoint.startsWith('channel:') ? 'channel' : 'webhook', id: newId() } as const;
  const ids = { eventId: newId(), accountId, watchId, keywordId: '', source: 'rss' };
  const attempts = { attempts: 1, firstAt: Date.now(), waitMs: -60_000, pending: true };
  await savePending(delivery.database.manager, [
    { ...ids, ...attempts, target, endpoint, body: Buffer.from('{}') },
  ]);
}

/** Opens an account whose secret cannot be decrypted. @returns its id */
async function openUnreadable(): Promise<string> {
  const accountId = newId();
  await delivery.database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at) VALUES ($1, $2, 'unlimited', $3, now())`,
    [accountId, `${accountId}@example.org`, unreadable()],
  );
  return accountId;
}

/** Creates a watch of another account. @returns its id */
async function watchOf(accountId: string, path: string): Promise<string> {
  const watchId = await delivery.watch(receiver.url + path);
  await delivery.database.query('UPDATE watches SET account_id = $1 WHERE watch_id = $2', [
    accountId,
    watchId,
  ]);
  return watchId;
}

it('a delivery is retried even if the secrets of another account and of a channel cannot be decrypted', async () => {
  const { database, accountId } = delivery;
  const [other, channelId] = [await openUnreadable(), newId()];
  await database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, secret_encrypted, addresses, created_at, updated_at)
     VALUES ($1, $2, 'slack', 'unreadable', 'active', '{}', $3, '{}', now(), now())`,
    [channelId, accountId, unreadable()],
  );
  const otherWatch = await watchOf(other, '/other');
  const ownWatch = await delivery.watch(`${receiver.url}/own`);
  await store(other, otherWatch, `${receiver.url}/other`);
  await store(accountId, ownWatch, channelEndpoint(channelId));
  await store(accountId, ownWatch, `${receiver.url}/own`);
  const service = await delivery.start();
  await receivedRequests(receiver, '/own', 1);
  await until('only the other deliveries wait', async () => {
    const rows: { endpoint: string; attempts: number }[] = await database.query(
      'SELECT endpoint, attempts FROM pending_deliveries',
    );
    return rows.length === 2 && rows.every(({ attempts }) => attempts === 1);
  });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/own']);
  await service.stop();
});

it('new events are sent once each, although other events of the same batch need a secret that cannot be decrypted', async () => {
  const [other, own] = [
    await watchOf(await openUnreadable(), '/other-new'),
    await delivery.watch(`${receiver.url}/new`),
  ];
  for (let n = 0; n < 30; n += 1) for (const watchId of [other, own]) await delivery.event(watchId);
  const service = await delivery.start();
  await until('the other deliveries wait', async () => {
    const info = await delivery.bus.jsm.consumers.info('EVENTS', 'delivery');
    return info.num_pending + info.num_ack_pending === 0;
  });
  await service.stop();
  const [waiting] = await delivery.database.query<{ count: number }[]>(
    'SELECT count(*)::int FROM pending_deliveries WHERE watch_id = $1',
    [other],
  );
  const sent = receiver.received.filter(({ path }) => path.endsWith('new')).map(({ path }) => path);
  expect([waiting?.count, sent]).toEqual([30, Array.from({ length: 30 }, () => '/new')]);
});
