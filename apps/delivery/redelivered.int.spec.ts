import { headers } from '@nats-io/transport-node';
import { RETRIED_HEADER } from '#messaging';
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
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});

/** Sends the event of the watch to its consumers again. Resolves when the service has handled it. */
async function sendAgain(watchId: string): Promise<void> {
  const { accountId, bus, store } = delivery;
  const subject = `events.${accountId}.${watchId}`;
  const [stored] = await store.read('EVENTS', subject);
  const more = headers();
  more.set(RETRIED_HEADER, String(stored!.seq));
  const { seq } = await bus.js.publish(subject, stored!.data, { headers: more });
  await until('the event is handled again', async () => {
    const { ack_floor: acknowledged } = await bus.jsm.consumers.info('EVENTS', 'delivery');
    return acknowledged.stream_seq >= seq;
  });
}

const requests = (path: string) => receiver.received.filter((one) => one.path === path).length;

describe('an event that is delivered again', () => {
  it('is sent once after a failed attempt that is already recorded, when the next attempt is due', async () => {
    receiver.answers.set('/failed', { status: 500 });
    const watchId = await delivery.watch(`${receiver.url}/failed`);
    const service = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await delivery.waiting(eventId, 1);
    receiver.answers.delete('/failed');
    await sendAgain(watchId);
    await delivery.makeDue();
    await until('the event is delivered', async () => (await delivery.pending(eventId)) === undefined);
    await service.stop();
    expect(requests('/failed')).toBe(2);
    expect((await delivery.attemptsOf(eventId)).map(({ number }) => number)).toEqual([1, 2]);
  });

  it('is sent immediately if it is not waiting for another attempt', async () => {
    const watchId = await delivery.watch(`${receiver.url}/repeated`);
    const service = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await delivery.attempts(eventId, 1);
    await sendAgain(watchId);
    await service.stop();
    expect(requests('/repeated')).toBe(2);
  });
});
