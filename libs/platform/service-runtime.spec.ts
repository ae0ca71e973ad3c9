import { setImmediate } from 'node:timers/promises';
import { COMMANDS, type Bus } from '#messaging';
import { createLogger, metricsText } from '#telemetry';
import { fakeOnly } from '#testing';
import { NatsStrategy } from '#transport';
import type { Loop } from './platform.js';
import { ServiceRuntime } from './service-runtime.js';

const bus = {} as Bus;
const log = createLogger('test', 'silent');

function loop(name: string, stop: () => Promise<void>): Loop {
  return { name, start: () => undefined, stop };
}

it('a stop has a time limit, and returns the names of interrupted work', async () => {
  let closed = false;
  const loops = [
    loop('quick', async () => undefined),
    loop('hanging', () => new Promise(() => undefined)),
    loop('failing', () => Promise.reject(new Error('no'))),
  ];
  const work = { loops, afterStop: async () => void (closed = true) };
  const runtime = new ServiceRuntime(new NatsStrategy(bus, log), work, bus, log);
  await runtime.start();
  const asked = Date.now();
  expect((await runtime.stop(100)).sort()).toEqual(['failing', 'hanging']);
  expect(Date.now() - asked).toBeLessThan(1000);
  expect(closed).toBe(true);
});

it('a command that hangs does not use up the time in which the loops must stop', async () => {
  let deliver: (error: null, message: object) => void = () => undefined;
  const subscription = { isClosed: () => true };
  const subscribe = (_: string, { callback }: { callback: typeof deliver }) => {
    deliver = callback;
    return subscription;
  };
  let finished = false;
  const slow = loop('slow', async () => {
    await setImmediate();
    finished = true;
  });
  const strategy = new NatsStrategy({ nc: { subscribe } } as unknown as Bus, log);
  strategy.serve(COMMANDS.retireKeyword, () => new Promise(() => undefined));
  const runtime = new ServiceRuntime(strategy, { loops: [slow] }, bus, log);
  await runtime.start();
  deliver(null, { subject: COMMANDS.retireKeyword.subject, data: new Uint8Array() });
  expect(await runtime.stop(200)).toEqual(['commands']);
  expect(finished).toBe(true);
});

it('a metric contains, for each consumer, the sequence up to which all messages are acknowledged', async () => {
  jest.useFakeTimers(fakeOnly('setInterval', 'clearInterval'));
  const info = { num_pending: 9, num_ack_pending: 1, ack_floor: { stream_seq: 41 } };
  const jsm = {
    consumers: { info: async () => info },
    streams: { info: async () => ({ state: {} }) },
  };
  const strategy = {
    consumers: [{ stream: 'CHECKS', name: 'runtime-spec' }],
    stop: async () => [],
  } as unknown as NatsStrategy;
  const runtime = new ServiceRuntime(strategy, { loops: [] }, { jsm } as unknown as Bus, log);
  await runtime.start();
  jest.advanceTimersByTime(5000);
  await setImmediate();
  expect(await metricsText()).toContain(
    'earshot_consumer_ack_floor{stream="CHECKS",consumer="runtime-spec"} 41\n',
  );
  await runtime.stop(100);
  jest.useRealTimers();
});
