import { until } from '#testing';
import {
  openDelivery,
  receivedRequests,
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
  jest.restoreAllMocks();
  await receiver?.close();
  await delivery?.drop();
});

it('a delivery is not repeated while its slow request runs, even if the clock of the service is behind that of Postgres', async () => {
  receiver.answers.set('/slow', { status: 0 });
  receiver.answers.set('/failing', { status: 500 });
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() - 60_000);
  const service = await delivery.start();
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/slow`));
  await until('the slow delivery has a row', () => delivery.pending(eventId));
  await delivery.event(await delivery.watch(`${receiver.url}/failing`));
  // By this clock, the second attempt is due immediately. It shows that the retry loop has looked.
  await receivedRequests(receiver, '/failing', 2);
  await service.stop();
  expect(receiver.received.filter(({ path }) => path === '/slow').length).toBe(1);
});
