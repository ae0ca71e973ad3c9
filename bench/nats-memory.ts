/**
 * Measures whether the memory of nats-server for the blocks that it writes and reads stops growing.
 * `npm run -s build && node dist/bench/nats-memory.js`
 */
import { AckPolicy } from '@nats-io/jetstream';
import { connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import {
  benchStores,
  helpWanted,
  median,
  numberOption,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';
import { memoryBelow } from './soak/memory.js';

helpWanted(`
Usage: node dist/bench/nats-memory.js [--streams 11] [--megabytes 144]

Writes this number of megabytes into each stream, round by round, while a consumer of each stream reads, and prints the memory
of nats-server after each round. The memory grows until some blocks (8 MiB) of each stream are full and read, and then stays the same.
Takes about two minutes.
`);

const STREAMS = numberOption('streams', 11);
const MEGABYTES = numberOption('megabytes', 144);
const ROUND_MEGABYTES = 2;
const BODY = new Uint8Array(2000);
const MESSAGES_A_ROUND = (ROUND_MEGABYTES * 1_000_000) / BODY.length;
const PUBLISHED_AT_ONCE = 100;
/** The size of three blocks of a stream: as many as are in memory when writes are fast. */
const WARM_UP_MEGABYTES = 24;
/** Target: the memory in the second half after the warm-up, divided by that in the first half, is at most this. */
const MAX_GROWTH = 1.1;

await runBench(async (cleanup) => {
  const { natsUrl } = await benchStores(cleanup);
  const bus = await connectBus(natsUrl, 'bench', createLogger('bench', 'silent'));
  cleanup.add(() => bus.close());
  const names = Array.from({ length: STREAMS }, (_, n) => `BENCH_${n}`);
  for (const name of names) await readWhatIsWritten(bus, name);
  const measured: number[] = [];
  for (let written = 0; written < MEGABYTES; written += ROUND_MEGABYTES) {
    for (const name of names) await write(bus, name);
    measured.push(memoryBelow(process.pid).get('nats-server')?.anonymous ?? Number.NaN);
    printProgress(`${written + ROUND_MEGABYTES} MB a stream: ${measured.at(-1)?.toFixed(0)} MiB`);
  }
  const warm = measured.slice(WARM_UP_MEGABYTES / ROUND_MEGABYTES);
  const halves = [warm.slice(0, warm.length / 2), warm.slice(warm.length / 2)] as const;
  table(
    ['anonymous memory of nats-server, MiB', 'median', 'most'],
    halves.map((half, n) => [
      n === 0 ? 'first half after the warm-up' : 'second half',
      median(half).toFixed(0),
      Math.max(...half).toFixed(0),
    ]),
  );
  target('second half / first half', median(halves[1]) / median(halves[0]), MAX_GROWTH, 'at most');
});

async function readWhatIsWritten(bus: Bus, name: string): Promise<void> {
  await bus.jsm.streams.add({ name, subjects: [`${name}.>`] });
  await bus.jsm.consumers.add(name, { durable_name: 'reader', ack_policy: AckPolicy.Explicit });
  const consumer = await bus.js.consumers.get(name, 'reader');
  await consumer.consume({ max_messages: 200, callback: (message) => message.ack() });
}

async function write(bus: Bus, name: string): Promise<void> {
  for (let sent = 0; sent < MESSAGES_A_ROUND; sent += PUBLISHED_AT_ONCE)
    await Promise.all(
      Array.from({ length: PUBLISHED_AT_ONCE }, (_, n) => bus.js.publish(`${name}.${n % 50}`, BODY)),
    );
}
