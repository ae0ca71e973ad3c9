import { done } from './outcome.js';
import { DurableScene } from './testing/durable-scene.js';

const scene = new DurableScene();

beforeAll(() => scene.start());
afterAll(() => scene.stop());

it('a durable consumer receives many large messages once each, and keeps its connection', async () => {
  const deliveries: number[] = [];
  const statuses: string[] = [];
  const { name, running, again } = await scene.run(
    (batch) => {
      deliveries.push(...batch.map((message) => message.deliveries));
      return batch.map(() => done);
    },
    200,
    { ackWaitMs: 30_000 },
  );
  await running.stop();
  const text = 'x'.repeat(1_000_000);
  for (let n = 0; n < 20; n += 1) await scene.send(...Array.from({ length: 10 }, () => text));
  void (async () => {
    for await (const { type } of scene.bus.nc.status()) statuses.push(type);
  })();
  const consumer = await again();
  await scene.settled(name);
  await consumer.stop();
  expect([deliveries, statuses]).toEqual([Array.from({ length: 200 }, () => 1), []]);
}, 60_000);
