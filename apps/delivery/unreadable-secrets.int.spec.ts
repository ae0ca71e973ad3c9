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
  const attempts = { attempts: 1, firstAt: Date.now(), dueAt: Date.now() - 60_000, pending: true };
  await savePending(delivery.database.manager, [
    { ...ids, ...attempts, target, endpoint, body: Buffer.from('{}') },
  ]);
}

it('a delivery is retried although the secrets of another account and of a channel cannot be decrypted', async () => {
  const { database, accountId } = delivery;
  const [other, channelId] = [newId(), newId()];
  await database.query(
    `INSERT INTO accounts (account_id, email, plan, signing_secret_encrypted, created_at) VALUES ($1, 'b@example.org', 'unlimited', $2, now())`,
    [other, unreadable()],
  );
  await database.query(
    `INSERT INTO channels (channel_id, account_id, kind, name, state, config, secret_encrypted, addresses, created_at, updated_at)
     VALUES ($1, $2, 'slack', 'unreadable', 'active', '{}', $3, '{}', now(), now())`,
    [channelId, accountId, unreadable()],
  );
  const watchIds = await Promise.all(['/other', '/own'].map((path) => delivery.watch(receiver.url + path)));
  const [otherWatch = '', ownWatch = ''] = watchIds;
  await database.query('UPDATE watches SET account_id = $1 WHERE watch_id = $2', [other, otherWatch]);
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
