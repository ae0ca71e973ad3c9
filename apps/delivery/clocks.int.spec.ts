import { newId } from '#kernel';
import { SecretBox } from '#secrets';
import { until } from '#testing';
import type { AttemptResult } from './attempts/delivery.js';
import { bringForwardFar } from './attempts/bring-forward.js';
import { pauseEndpoints } from './attempts/endpoints.js';
import { savePending } from './attempts/pending-deliveries.js';
import { Targets } from './attempts/targets.js';
import { channelEndpoint } from './channels/channel.js';
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
  receiver.answers.set('/failing', { status: 500 });
});
afterAll(async () => {
  await receiver?.close();
  await delivery?.drop();
});
afterEach(() => jest.restoreAllMocks());

/** Sets the clock of the service back or forward. */
function shiftClock(ms: number): void {
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

const dueInMs = async (eventId: string) => (await delivery.pending(eventId))?.dueInMs ?? NaN;

it('a delivery is not repeated while its slow request runs, even if the clock of the service is behind that of Postgres', async () => {
  receiver.answers.set('/slow', { status: 0 });
  shiftClock(-60_000);
  const service = await delivery.start();
  const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/slow`));
  await until('the slow delivery has a row', () => delivery.pending(eventId));
  const { eventId: other } = await delivery.event(await delivery.watch(`${receiver.url}/failing`));
  await delivery.waiting(other, 1);
  await makeDue(other);
  // The second attempt shows that the retry loop has looked.
  await receivedRequests(receiver, '/failing', 2);
  await service.stop();
  expect(receiver.received.filter(({ path }) => path === '/slow').length).toBe(1);
});

it.each([-60_000, 60_000])(
  'a failed delivery waits 30 s, and then 2 minutes, if the clock of the service is %i ms ahead of that of Postgres',
  async (ahead) => {
    shiftClock(ahead);
    const service = await delivery.start();
    const { eventId } = await delivery.event(await delivery.watch(`${receiver.url}/failing`));
    for (const [attempt, wait] of [
      [1, 30_000],
      [2, 120_000],
    ] as const) {
      await delivery.waiting(eventId, attempt);
      const left = await dueInMs(eventId);
      expect([left > wait - 20_000, left <= wait]).toEqual([true, true]);
      await makeDue(eventId);
    }
    await service.stop();
  },
);

it('a resend is due at once if the clock of the service is ahead of that of Postgres', async () => {
  const watchId = await delivery.watch(`${receiver.url}/resent`);
  const { eventId, bytes: body } = await delivery.event(watchId, false);
  await savePending(delivery.database.manager, [
    {
      ...{ eventId, target: { kind: 'resend', id: newId() }, accountId: delivery.accountId, watchId },
      ...{
        keywordId: '',
        source: 'rss',
        endpoint: `${receiver.url}/resent`,
        body,
        attempts: 0,
        pending: true,
      },
      firstAt: Date.now() + 60_000,
    },
  ]);
  expect(await dueInMs(eventId)).toBeLessThanOrEqual(0);
});

it('a channel is paused for the time that it asks for, if the clock of the service is behind that of Postgres', async () => {
  shiftClock(-60_000);
  const endpoint = channelEndpoint(newId());
  const waiting = { delivery: { accountId: delivery.accountId, endpoint } } as AttemptResult;
  const asked = { ...waiting, at: Date.now(), durationMs: 0, retryAfterMs: 30_000 };
  await pauseEndpoints(delivery.database.manager, [asked]);
  const targets = new Targets(delivery.database, new SecretBox('5e'.repeat(32)));
  const [state] = (await targets.endpoints([{ accountId: delivery.accountId, endpoint }])).values();
  expect(state?.isPaused).toBe(true);
});

it('waits that became too long because the clock of Postgres was set back end after a search for them', async () => {
  const watchId = await delivery.watch(`${receiver.url}/later`);
  const wait = async (attempts: number, hours: number) => {
    const { eventId, bytes: body } = await delivery.event(watchId, false);
    const target = { kind: 'resend', id: newId() } as const;
    const ids = { eventId, target, accountId: delivery.accountId, watchId, keywordId: '', source: 'rss' };
    const rest = { endpoint: `${receiver.url}/later`, body, firstAt: Date.now(), pending: true };
    await savePending(delivery.database.manager, [{ ...ids, ...rest, attempts, waitMs: hours * 3_600_000 }]);
    return eventId;
  };
  const [late, planned, unclaimed] = [await wait(1, 1), await wait(4, 1), await wait(0, 1)];
  const endpoint = channelEndpoint(newId());
  await delivery.database.query(
    `INSERT INTO webhook_endpoints (account_id, endpoint, paused_until) VALUES ($1, $2, now() + interval '25 hours')`,
    [delivery.accountId, endpoint],
  );
  expect(await bringForwardFar(delivery.database)).toBe(false);
  expect(await dueInMs(late)).toBeLessThanOrEqual(0);
  expect(await dueInMs(planned)).toBeGreaterThan(3_000_000);
  expect(await dueInMs(unclaimed)).toBeLessThanOrEqual(0);
  expect(
    await delivery.database.query('SELECT paused_until FROM webhook_endpoints WHERE endpoint = $1', [
      endpoint,
    ]),
  ).toEqual([{ paused_until: null }]);
});

it('a search for waits that are too long ends 10,000 of them, and reports that there can be more', async () => {
  const { database } = delivery;
  await database.query(
    `INSERT INTO pending_deliveries (event_id, target_kind, target_id, account_id, watch_id, source, endpoint, body, attempts, first_at, due_at)
     SELECT gen_random_uuid(), 'resend', gen_random_uuid(), $1, gen_random_uuid(), 'rss', 'http://many.example.org/', 'x', 1, now(),
       now() + interval '1 day' FROM generate_series(1, 10_001)`,
    [delivery.accountId],
  );
  expect([await bringForwardFar(database), await bringForwardFar(database)]).toEqual([true, false]);
  const left = `SELECT count(*)::int AS n FROM pending_deliveries WHERE endpoint LIKE '%many%' AND due_at > now()`;
  expect(await database.query(left)).toEqual([{ n: 0 }]);
});

function makeDue(eventId: string): Promise<unknown> {
  return delivery.database.query(
    `UPDATE pending_deliveries SET due_at = now() - interval '1 second' WHERE event_id = $1`,
    [eventId],
  );
}
