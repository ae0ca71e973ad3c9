import { until } from '#testing';
import {
  receivedRequests,
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

const WAITING = 40;

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

const countOf = async (query: string) => {
  const [row] = await delivery.database.query<{ count: number }[]>(`SELECT ${query} AS count`);
  return row?.count;
};

it('an endpoint that answers 410 is disabled immediately, gets at most one request for each waiting delivery, and does not delay other endpoints', async () => {
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
