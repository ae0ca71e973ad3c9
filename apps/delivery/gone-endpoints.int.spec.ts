import { attemptsIn } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { until } from '#testing';
import { savePending } from './attempts/pending-deliveries.js';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

const WAITING = 40;
/** More than the number of deliveries that are given up together. */
const MANY = 2500;

let delivery: DeliveryUnderTest;
let receiver: Receiver;

beforeAll(async () => {
  delivery = await openDelivery();
  receiver = await startReceiver();
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});

const countOf = async (query: string) => {
  const [row] = await delivery.database.query<{ count: number }[]>(`SELECT ${query} AS count`);
  return row?.count;
};

/** Copies the waiting delivery `MANY` times, for other events. The copies are due in an hour. */
const fill = (eventId: string) =>
  delivery.database.query(
    `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, source, endpoint, body, attempts, first_at, due_at)
     SELECT gen_random_uuid(), target_kind, target_id, account_id, watch_id, source, endpoint, body, attempts, first_at, now() + interval '1 hour'
     FROM pending_deliveries, generate_series(1, ${MANY}) WHERE event_id = $1`,
    [eventId],
  );

const makeDue = (eventId: string) =>
  delivery.database.query('UPDATE pending_deliveries SET due_at = now() WHERE event_id = $1', [eventId]);

it('an endpoint that answers 410 is disabled immediately, gets at most one request per waiting delivery, and delays no other endpoint', async () => {
  const service = await delivery.start();
  receiver.answers.set('/gone', { status: 500 });
  const gone = await delivery.watch(`${receiver.url}/gone`);
  const well = await delivery.watch(`${receiver.url}/well`);
  for (let n = 0; n < WAITING; n += 1) await delivery.event(gone);
  await until('all deliveries wait for another attempt', async () => {
    const waiting = await countOf('(SELECT count(*)::int FROM pending_deliveries WHERE attempts = 1)');
    return waiting === WAITING;
  });
  receiver.received.length = 0;
  receiver.answers.set('/gone', { status: 410 });
  await delivery.makeDue();
  await receivedRequests(receiver, '/gone', 1);
  const began = Date.now();
  await delivery.event(well);
  await receivedRequests(receiver, '/well', 1);
  expect(Date.now() - began).toBeLessThan(2500);
  await until('the endpoint is disabled, and nothing waits for it', async () => {
    const disabled = await countOf(
      '(SELECT count(*)::int FROM webhook_endpoints WHERE disabled_at IS NOT NULL)',
    );
    return disabled === 1 && (await countOf('(SELECT count(*)::int FROM pending_deliveries)')) === 0;
  });
  await service.stop();
  const requested = receiver.received
    .filter(({ path }) => path === '/gone')
    .map(({ headers }) => headers['webhook-id']);
  expect(requested).toEqual([...new Set(requested)]);
  const deadlocks = '(SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database())';
  expect(await countOf(deadlocks)).toBe(0);
});

it('the deliveries to an endpoint that answers 410 are all given up, at most 1,000 at a time', async () => {
  const service = await delivery.start();
  receiver.answers.set('/many', { status: 500 });
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/many`));
  await delivery.waiting(eventId, 1);
  await fill(eventId);
  receiver.answers.set('/many', { status: 410 });
  const publish = jest.spyOn(EventStore.prototype, 'publishAll');
  await makeDue(eventId);
  await until(
    'nothing waits',
    async () => (await countOf('(SELECT count(*)::int FROM pending_deliveries)')) === 0,
  );
  await service.stop();
  const parts = publish.mock.calls.map(([messages]) =>
    messages.reduce((sum, { data }) => sum + attemptsIn(data).length, 0),
  );
  expect(parts.reduce((sum, part) => sum + part)).toBe(MANY + 2);
  expect(Math.max(...parts)).toBe(1000);
});

it('a resend is sent if its endpoint is enabled again while other deliveries to this endpoint are given up', async () => {
  const { database, accountId } = delivery;
  const service = await delivery.start();
  receiver.answers.set('/back', { status: 500 });
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/back`));
  await delivery.waiting(eventId, 1);
  await fill(eventId);
  receiver.answers.set('/back', { status: 410 });
  const publishAll = EventStore.prototype.publishAll;
  const publish = jest.spyOn(EventStore.prototype, 'publishAll');
  publish.mockImplementation(async function (this: EventStore, messages) {
    await publishAll.call(this, messages);
    if (messages.length < 1000 / 50) return;
    publish.mockRestore();
    receiver.answers.delete('/back');
    await database.query('DELETE FROM webhook_endpoints');
    const target = { kind: 'resend', id: newId() } as const;
    const now = Date.now();
    const [waiting] = await database.query<{ watch_id: string; endpoint: string }[]>(
      'SELECT * FROM pending_deliveries',
    );
    const { watch_id: watchId = '', endpoint = '' } = waiting ?? {};
    await savePending(database.manager, [
      {
        ...{
          eventId,
          target,
          accountId,
          watchId,
          keywordId: '',
          source: 'rss',
          endpoint,
          attempts: 0,
          pending: true,
        },
        ...{ body: Buffer.from('resent'), firstAt: now },
      },
    ]);
  });
  await makeDue(eventId);
  await until('the event is sent again', () =>
    receiver.received.some(({ path, body }) => path === '/back' && body.toString() === 'resent'),
  );
  await service.stop();
});
