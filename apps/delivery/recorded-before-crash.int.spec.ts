import { attemptMessages } from './attempts/attempt-messages.js';
import { claimPending } from './attempts/claim-pending.js';
import { extendClaims, returnPending, updatePending } from './attempts/pending-deliveries.js';
import { until } from '#testing';
import {
  openDelivery,
  startReceiver,
  type DeliveryUnderTest,
  type Receiver,
} from './testing/delivery-under-test.js';

const LIMITS = { byMail: false, perEndpoint: 10, max: 10 };

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

const requests = (path: string) => receiver.received.filter((one) => one.path === path).length;

/** Makes a delivery that waits for its second attempt. */
async function waitingAt(path: string): Promise<string> {
  receiver.answers.set(path, { status: 500 });
  const service = await delivery.start();
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}${path}`));
  await delivery.waiting(eventId, 1);
  await service.stop();
  receiver.answers.delete(path);
  await delivery.makeDue();
  return eventId;
}

describe('a waiting delivery whose attempt was recorded just before a crash', () => {
  it.each([
    ['is not sent again if the attempt was successful', true, 1],
    ['is sent again if the attempt failed', false, 2],
  ])('%s', async (_, delivered, count) => {
    const path = `/${delivered ? 'success' : 'failure'}`;
    const eventId = await waitingAt(path);
    const claimed = await claimPending(delivery.database, LIMITS);
    const at = Date.now();
    const attempts = claimed.map((one) => ({
      ...{ delivery: one, at, durationMs: 1, statusCode: delivered ? 200 : 500, delivered, message: '' },
      nextAt: delivered ? undefined : at,
    }));
    await delivery.store.publishAll(attemptMessages(attempts, () => 2));
    await delivery.makeDue();
    const service = await delivery.start();
    await until('nothing waits', async () => !(await delivery.pending(eventId)));
    await service.stop();
    expect(requests(path)).toBe(count);
    expect(await delivery.attemptsOf(eventId)).toHaveLength(count + 1);
  });
});

it('the claim of a delivery contains the time of the first earlier claim that brought no result', async () => {
  const { database } = delivery;
  await waitingAt('/claimed');
  const claimedSince = async () => {
    const [claimed] = await claimPending(database, LIMITS);
    await delivery.makeDue();
    return [claimed!, claimed!.claimedSince] as const;
  };
  const [one, never] = await claimedSince();
  const [, first] = await claimedSince();
  const [, still] = await claimedSince();
  expect([never, typeof first, still]).toEqual([undefined, 'number', first]);
  await returnPending(database, [one]);
  const [, returned] = await claimedSince();
  expect(returned).toBe(undefined);
  await returnPending(database, [one]);
  await extendClaims(database.manager, [one]);
  await delivery.makeDue();
  const [, running] = await claimedSince();
  expect(running).toBeGreaterThan(first!);
});

it('an extension of claims does not wait for a delivery whose result is being recorded', async () => {
  const { database } = delivery;
  await waitingAt('/recorded');
  const [one] = await claimPending(database, LIMITS);
  await database.transaction(async (recording) => {
    await updatePending(recording, [{ ...one!, attempts: 2, waitMs: 60_000 }]);
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = '1ms'`);
      await extendClaims(tx, [one!]);
    });
  });
  expect((await delivery.pending(one!.eventId))?.dueInMs).toBeGreaterThan(30_000);
});
