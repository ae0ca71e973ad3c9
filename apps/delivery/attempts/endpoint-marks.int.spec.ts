import { newId } from '#kernel';
import { createLogger, metricsText } from '#telemetry';
import { openDelivery, type DeliveryUnderTest } from '../testing/delivery-under-test.js';
import { AttemptRecorder, type ChannelFaults } from './attempt-recorder.js';
import type { AttemptResult } from './delivery.js';
import { savePending } from './pending-deliveries.js';

const log = createLogger('spec', 'silent');
let delivery: DeliveryUnderTest;

beforeAll(async () => (delivery = await openDelivery()));
afterAll(() => delivery?.drop());

/** Returns an attempt. The endpoint was healthy when the delivery was created. */
const attempt = (endpoint: string, delivered: boolean): AttemptResult => ({
  delivery: {
    eventId: newId(),
    accountId: delivery.accountId,
    watchId: newId(),
    keywordId: '',
    source: 'rss',
    endpoint,
    body: new Uint8Array(),
    signing: { secrets: [], legacy: false },
    target: { kind: 'webhook', id: newId() },
    attempts: 0,
    firstAt: Date.now(),
    failingSince: undefined,
    pending: false,
  },
  at: Date.now(),
  durationMs: 1,
  statusCode: delivered ? 200 : 500,
  delivered,
  message: '',
});

it.each([
  ['counts as working if it has also accepted a delivery of the same batch', [false, true], null, 0],
  ['counts as failing if it has accepted no delivery of the batch', [false, false], expect.any(Date), 2],
])('a healthy endpoint that refuses a delivery %s', async (_, outcomes, failingSince, failures) => {
  const recorder = new AttemptRecorder(delivery.database, delivery.store, {} as ChannelFaults, log);
  const endpoint = `http://receiver.example.org/${newId()}`;
  const other = 'http://other.example.org/';
  await recorder.record([...outcomes.map((delivered) => attempt(endpoint, delivered)), attempt(other, true)]);
  const rows = await delivery.database.query(
    'SELECT failing_since, failures FROM webhook_endpoints WHERE endpoint = $1',
    [endpoint],
  );
  expect(rows).toEqual([{ failing_since: failingSince, failures }]);
});

it('a delivery that ends before its first attempt counts as `unsent`, and not as `given_up`', async () => {
  const recorder = new AttemptRecorder(delivery.database, delivery.store, {} as ChannelFaults, log);
  // Other specs of the same process also increase these counts, so the test compares the counts before and after.
  const counted = async (outcome: string) =>
    (await metricsText())
      .split('\n')
      .filter((line) => line.startsWith('earshot_delivery_attempts_total{') && line.includes(`"${outcome}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(1)), 0);
  const [unsent, givenUp] = [await counted('unsent'), await counted('given_up')];
  await recorder.giveUp([{ ...attempt('http://gone.example.org/', false).delivery, reason: 'disabled' }]);
  expect([await counted('unsent'), await counted('given_up')]).toEqual([unsent + 1, givenUp]);
});

it('a failed attempt causes no retry if the row of its delivery was deleted while the attempt ran', async () => {
  const recorder = new AttemptRecorder(delivery.database, delivery.store, {} as ChannelFaults, log);
  await delivery.database.query('DELETE FROM pending_deliveries');
  const [ended, waiting] = [newId(), newId()].map((id) =>
    attempt(`http://receiver.example.org/${id}`, false),
  );
  const claimed = [ended!, waiting!].map((one) => ({ ...one, delivery: { ...one.delivery, pending: true } }));
  await savePending(delivery.database.manager, [waiting!.delivery]);
  await recorder.record(claimed);
  expect(
    await delivery.database.query(
      'SELECT event_id, attempts, due_at > now() AS later FROM pending_deliveries',
    ),
  ).toEqual([{ event_id: waiting!.delivery.eventId, attempts: 1, later: true }]);
});
