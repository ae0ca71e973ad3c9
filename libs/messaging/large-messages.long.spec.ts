import { done } from './outcome.js';
import { DurableScene } from './testing/durable-scene.js';

const scene = new DurableScene();
const LARGE = 'x'.repeat(1_000_000);
let statuses: string[];

beforeAll(async () => {
  await scene.start();
  void (async () => {
    for await (const { type } of scene.bus.nc.status()) statuses.push(type);
  })();
});
beforeEach(() => (statuses = []));
afterAll(() => scene.stop());

/** Publishes messages, then starts consumers of them, and waits until all have received them. @returns their deliveries */
async function received(
  { texts, consumers }: { texts: string[]; consumers: number },
  batchSize: number,
  ackWaitMs: number,
) {
  const deliveries: number[] = [];
  const { name, running, again } = await scene.run(
    (batch) => {
      deliveries.push(...batch.map((message) => message.deliveries));
      return batch.map(() => done);
    },
    batchSize,
    { ackWaitMs },
  );
  await running.stop();
  await scene.send(...texts);
  const names = Array.from({ length: consumers }, (_, index) => `${name}-${index}`);
  const started = await Promise.all(names.map((one) => again({ name: one })));
  for (const one of names) await scene.settled(one);
  await Promise.all(started.map((one) => one.stop()));
  return deliveries;
}

it.each([
  [1, 200],
  [6, 60],
])(
  '%d durable consumers of one connection each receive %d large messages once, and keep the connection',
  async (consumers, count) => {
    const texts = Array.from({ length: count }, () => LARGE);
    const deliveries = await received({ texts, consumers }, count, 30_000);
    expect([deliveries, statuses]).toEqual([Array.from({ length: count * consumers }, () => 1), []]);
  },
  60_000,
);

it('a durable consumer loses its connection at most once if large messages follow many small ones', async () => {
  const texts = Array.from({ length: 2300 }, (_, index) => (index < 2000 ? 'x' : LARGE));
  expect((await received({ texts, consumers: 1 }, 500, 2000)).length).toBeGreaterThanOrEqual(2300);
  expect(statuses.filter((one) => one === 'disconnect').length).toBeLessThanOrEqual(1);
}, 60_000);
