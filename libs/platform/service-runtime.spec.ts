import { expect, it } from 'vitest';
import type { Bus } from '#messaging';
import { createLogger } from '#telemetry';
import type { Loop } from './platform.js';
import { ServiceRuntime } from './service-runtime.js';

const bus = {} as Bus;
const log = createLogger('test', 'silent');

function loop(name: string, stop: () => Promise<void>): Loop {
  return { name, start: () => undefined, stop };
}

it('a stop does not wait for ever, and tells what it cut off', async () => {
  let closed = false;
  const loops = [
    loop('quick', async () => undefined),
    loop('hanging', () => new Promise(() => undefined)),
    loop('failing', () => Promise.reject(new Error('no'))),
  ];
  const work = { durables: [], commands: [], loops, afterStop: async () => void (closed = true) };
  const runtime = new ServiceRuntime(work, bus, log);
  await runtime.start();
  const asked = Date.now();
  expect((await runtime.stop(100)).sort()).toEqual(['failing', 'hanging']);
  expect(Date.now() - asked).toBeLessThan(1000);
  expect(closed).toBe(true);
});
