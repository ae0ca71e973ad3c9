import { DataSource } from 'typeorm';
import { EventStore } from '#event-store';
import { Outage } from '#kernel';
import { until } from '#testing';
import {
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

/** More than the number of attempts that are recorded together. */
const MANY = 450;

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

const requests = (path: string) => receiver.received.filter((one) => one.path === path).length;
const refuseToStore = () =>
  jest.spyOn(EventStore.prototype, 'publishAll').mockRejectedValue(new Outage('NATS', 'test'));

describe('while NATS cannot store attempts', () => {
  it('waiting deliveries are sent once and recorded after the outage, even if their claims have ended', async () => {
    receiver.answers.set('/waiting', { status: 500 });
    const watchId = await delivery.watch(`${receiver.url}/waiting`);
    const service = await delivery.start();
    const eventIds = await delivery.events(
      watchId,
      Array.from({ length: MANY }, () => ''),
    );
    const attempts = async () => {
      const rows: { attempts: number }[] = await delivery.database.query(
        'SELECT attempts FROM pending_deliveries WHERE watch_id = $1',
        [watchId],
      );
      return rows.map((row) => row.attempts);
    };
    await until('the first attempts have failed', async () => {
      const found = await attempts();
      return found.length === MANY && found.every((one) => one === 1);
    });
    const sentBefore = requests('/waiting');
    receiver.answers.delete('/waiting');
    const store = refuseToStore();
    await delivery.makeDue();
    await until('attempts wait for their record', () => store.mock.calls.length >= 14, 20_000);
    // The claims would end only after 20 s.
    await delivery.makeDue();
    const sentMeanwhile = requests('/waiting');
    await until('more attempts to record have failed', () => store.mock.calls.length >= 18);
    expect(requests('/waiting')).toBe(sentMeanwhile);
    await until('other replicas cannot claim what was sent', async () => {
      const [row] = await delivery.database.query<{ claimed: number }[]>(
        'SELECT count(*)::int AS claimed FROM pending_deliveries WHERE watch_id = $1 AND due_at > now()',
        [watchId],
      );
      return row!.claimed === sentMeanwhile - sentBefore;
    });
    store.mockRestore();
    await until('all are delivered', async () => (await attempts()).length === 0, 30_000);
    await service.stop();
    expect(requests('/waiting') - sentBefore).toBe(MANY);
    expect(new Set(eventIds).size).toBe(MANY);
  }, 90_000);

  it('events are sent once, and are acknowledged after the outage', async () => {
    const watchId = await delivery.watch(`${receiver.url}/first`);
    const service = await delivery.start();
    const store = refuseToStore();
    const events = [];
    for (let n = 0; n < 3; n += 1) events.push(await delivery.event(watchId));
    await until('attempts to record have failed', () => store.mock.calls.length >= 4);
    store.mockRestore();
    for (const { eventId } of events) await delivery.attempts(eventId, 1);
    await service.stop();
    expect(requests('/first')).toBe(3);
  });
});

it('an attempt that is stored while Postgres cannot answer is not repeated', async () => {
  receiver.answers.set('/stored', { status: 500 });
  const service = await delivery.start();
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/stored`));
  await delivery.waiting(eventId, 1);
  receiver.answers.delete('/stored');
  const publishAll = EventStore.prototype.publishAll;
  const transaction = jest.spyOn(DataSource.prototype, 'transaction');
  jest.spyOn(EventStore.prototype, 'publishAll').mockImplementation(async function (
    this: EventStore,
    messages,
  ) {
    await publishAll.call(this, messages);
    transaction.mockRejectedValue(new Outage('Postgres', 'test'));
  });
  await delivery.makeDue();
  await delivery.attempts(eventId, 2);
  const before = transaction.mock.calls.length;
  await until('attempts to record have failed', () => transaction.mock.calls.length >= before + 2);
  jest.restoreAllMocks();
  await until('nothing waits', async () => !(await delivery.pending(eventId)), 40_000);
  await service.stop();
  expect(requests('/stored')).toBe(2);
  expect(await delivery.attemptsOf(eventId)).toHaveLength(2);
}, 60_000);
