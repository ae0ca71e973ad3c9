import { EventStore } from '#event-store';
import { Outage } from '#kernel';
import { until } from '#testing';
import {
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
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});

it('a waiting delivery is sent once while NATS cannot store its attempt, and the attempt is recorded after the outage', async () => {
  receiver.answers.set('/', { status: 500 });
  const watchId = await delivery.watch(`${receiver.url}/`);
  const service = await delivery.start();
  const { eventId } = await delivery.event(watchId);
  await delivery.waiting(eventId, 1);
  receiver.answers.delete('/');
  const store = jest.spyOn(EventStore.prototype, 'publishAll').mockRejectedValue(new Outage('NATS', 'test'));
  await until('four attempts to record have failed', async () => {
    // Without this, the claim of the delivery would end only after 20 s.
    await delivery.makeDue();
    return store.mock.calls.length >= 4;
  });
  store.mockRestore();
  await until('the delivery has ended', async () => (await delivery.pending(eventId)) === undefined);
  await service.stop();
  expect(receiver.received.length).toBe(2);
  expect((await delivery.attemptsOf(eventId)).map(({ number, delivered }) => [number, delivered])).toEqual([
    [1, false],
    [2, true],
  ]);
});
