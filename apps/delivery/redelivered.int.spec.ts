import { headers } from '@nats-io/transport-node';
import { endpointIdOf } from '#kernel';
import { RETRIED_HEADER, subjectOf } from '#messaging';
import { SecretBox } from '#secrets';
import { until } from '#testing';
import { FirstDeliveries } from './attempts/first-deliveries.js';
import type { Targets } from './attempts/targets.js';
import { Channels } from './channels/channels.js';
import { ChannelPace } from './channels/pace.js';
import {
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';
import { readPushedEvent } from './wire/pushed-event.reader.js';

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
  it('is sent once more, when the next attempt is due, if its failed attempt is recorded', async () => {
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

  it.each([
    ['is not sent again if its successful attempt is recorded', 200, 0],
    ['is sent again if its failed attempt is recorded and the next attempt is not stored', 500, 1],
  ])('%s', async (_, status, count) => {
    receiver.answers.set(`/${status}`, { status });
    const watchId = await delivery.watch(`${receiver.url}/${status}`);
    const service = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await delivery.attempts(eventId, 1);
    await service.stop();
    await delivery.database.query('DELETE FROM pending_deliveries');
    const { accountId, database, store } = delivery;
    const [stored] = await store.read('EVENTS', subjectOf('EVENTS', accountId, watchId));
    const event = {
      event: readPushedEvent(stored!.data),
      seq: stored!.seq,
      storedAt: Date.now(),
      cause: undefined,
    };
    const box = new SecretBox('5e'.repeat(32));
    const targets = { webhooksOf: () => Promise.resolve(new Map([[watchId, webhook]])) };
    const webhook = {
      target: { kind: 'webhook', id: endpointIdOf(accountId, `${receiver.url}/${status}`) },
      isOrdinary: true,
    };
    const first = new FirstDeliveries(
      ...([database, store, targets as unknown as Targets] as const),
      ...([new Channels(database, box), new ChannelPace()] as const),
    );
    expect((await first.of([{ ...event, handledSince: Date.now() }])).deliveries.length).toBe(count);
    expect((await first.of([{ ...event, handledSince: undefined }])).deliveries.length).toBe(1);
  });

  it('is not sent again if a user retries a parked event whose attempt is recorded', async () => {
    const watchId = await delivery.watch(`${receiver.url}/repeated`);
    const service = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await delivery.attempts(eventId, 1);
    await sendAgain(watchId);
    await service.stop();
    expect(requests('/repeated')).toBe(1);
  });

  it('is not sent again if its attempt is recorded and somebody deletes the consumer on the server', async () => {
    const watchId = await delivery.watch(`${receiver.url}/deleted`);
    const service = await delivery.start();
    const { eventId } = await delivery.event(watchId);
    await delivery.attempts(eventId, 1);
    const { consumers } = delivery.bus.jsm;
    await consumers.delete('EVENTS', 'delivery');
    const later = await delivery.event(await delivery.watch(`${receiver.url}/later`));
    await delivery.attempts(later.eventId, 1);
    await service.stop();
    expect(requests('/deleted')).toBe(1);
  });
});
