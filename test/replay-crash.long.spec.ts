import { freePort } from '#embedded';
import { beginProgram, programEnv, startProgram, until, type Program } from '#testing';
import { startDeliveries, type DeliveriesUnderTest } from './interface/deliveries-under-test.js';

const EVENTS = 200;

let setup: DeliveriesUnderTest;
let delivery: Program | undefined;

beforeAll(async () => {
  setup = await startDeliveries(false);
}, 90_000);
afterAll(async () => {
  await delivery?.stop();
  await setup?.stop();
});

it('the next delivery service continues a replay after a kill -9, and sends each event at least once, in order [replays.resumes, replays.order]', async () => {
  const env = programEnv(setup.service.stores);
  const keyword = await setup.keyword(null);
  const events = await setup.events(keyword, EVENTS);
  const doomed = beginProgram(
    'delivery',
    { ...env, EARSHOT_FAILPOINT: 'delivery-after-post-before-record:2' },
    await freePort(),
  );
  const { id } = await until(
    'the replay is accepted',
    async () => {
      const { status, body } = await setup.ada.api.post('/v1/replays', {
        since: '2026-01-01',
        keyword_id: keyword.keywordId,
        url: `${setup.receiver.url}/crash`,
        rate_per_second: 1000,
      });
      return status === 202 && body;
    },
    30_000,
  );
  await doomed.ended;
  expect([doomed.output(), doomed.child.signalCode]).toEqual([doomed.output(), 'SIGKILL']);
  const before = setup.receiver.received.length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(EVENTS);

  delivery = await startProgram('delivery', env);
  expect(await setup.ended(id)).toMatchObject({ status: 'done', matched: EVENTS, sent: EVENTS, failed: 0 });
  const bytesOf = new Map(events.map((event) => [event.id, event.bytes]));
  for (const { headers, body } of setup.receiver.received)
    expect(body.equals(bytesOf.get(String(headers['webhook-id'])) ?? Buffer.alloc(0))).toBe(true);
  // Some events were sent twice because of the kill, but the first deliveries of the events are in order.
  const first = [...new Set(setup.receiver.received.map(({ headers }) => headers['webhook-id']))];
  expect(first).toEqual(events.map((event) => event.id));
  expect(setup.receiver.received.length).toBeGreaterThan(EVENTS);
}, 90_000);
