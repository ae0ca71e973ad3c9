/**
 * Measures the cost of the transport for a consumer whose handler does nothing. The figures are messages per second
 * through a controller's method, through the runner that the transport uses, and through a bare loop of nats.js.
 * `npm run -s build && node dist/bench/consumer.js`
 */
import 'reflect-metadata';
import type { JsMsg } from '@nats-io/jetstream';
import { Controller, mixin } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { connectBus, done, runDurable, type Bus, type ConsumerOptions, type Outcome } from '#messaging';
import { createLogger } from '#telemetry';
import { ConsumerPattern, NatsStrategy } from '#transport';
import {
  benchStores,
  helpWanted,
  median,
  numberOption,
  quantile,
  ratios,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';

helpWanted(`
Usage: node dist/bench/consumer.js [--messages 300000] [--rounds 6] [--batch 500] [--bytes 500]

Prints the messages a second of a consumer that acknowledges and does nothing else. The variants are a method of a Nest
controller (the strategy), the runner without Nest, and a bare pull loop of nats.js. The stream contains all messages before
the first variant starts. Takes about three minutes.
`);

// With 100,000 messages, a variant would run only about a second, and the work after the start of Nest would slow it down.
const MESSAGES = numberOption('messages', 300_000);
const ROUNDS = numberOption('rounds', 6);
const BATCH = numberOption('batch', 500);
const BYTES = numberOption('bytes', 500);
const PUBLISHED_AT_ONCE = 1000;

const log = createLogger('bench', 'silent');

interface Measured {
  /** Messages per second. */
  rate: number;
  /** Mean number of messages in one call of the handler. */
  batchSize: number;
}

/** Counts messages, and measures the time from the first to the last. */
class Stopwatch {
  private seen = 0;
  private batches = 0;
  private began = 0;
  private end: (measured: Measured) => void = () => undefined;
  /** Resolves when all messages have arrived. */
  readonly measured = new Promise<Measured>((resolve) => (this.end = resolve));

  readonly handle = async (batch: readonly unknown[]): Promise<Outcome[]> => {
    if (this.seen === 0) this.began = performance.now();
    this.seen += batch.length;
    this.batches += 1;
    if (this.seen === MESSAGES)
      this.end({
        rate: (MESSAGES / (performance.now() - this.began)) * 1000,
        batchSize: MESSAGES / this.batches,
      });
    return batch.map(() => done);
  };
}

const variants = {
  async strategy(bus: Bus, options: ConsumerOptions): Promise<Measured> {
    const stopwatch = new Stopwatch();
    @Controller()
    class Counting {
      @ConsumerPattern(options)
      count(batch: readonly JsMsg[]): Promise<Outcome[]> {
        return stopwatch.handle(batch);
      }
    }
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(
      { module: class BenchModule {}, controllers: [mixin(Counting)] },
      { strategy: new NatsStrategy(bus, log), logger: false },
    );
    await app.listen();
    const measured = await stopwatch.measured;
    await app.close();
    return measured;
  },

  async runner(bus: Bus, options: ConsumerOptions): Promise<Measured> {
    const stopwatch = new Stopwatch();
    const running = await runDurable(bus, { ...options, handle: stopwatch.handle }, log);
    const measured = await stopwatch.measured;
    await running.stop();
    return measured;
  },

  async bare(bus: Bus, { stream, name, batchSize }: ConsumerOptions): Promise<Measured> {
    const stopwatch = new Stopwatch();
    await bus.jsm.consumers.add(stream, {
      durable_name: name,
      max_ack_pending: Math.max(2000, batchSize * 4),
    });
    const consumer = await bus.js.consumers.get(stream, name);
    for (let left = MESSAGES; left > 0;) {
      const messages = await consumer.fetch({ max_messages: Math.min(left, batchSize), expires: 5000 });
      for await (const message of messages) {
        message.ack();
        await stopwatch.handle([message]);
        left -= 1;
      }
    }
    await bus.nc.flush();
    return stopwatch.measured;
  },
};

type Variant = keyof typeof variants;
const NAMES: readonly Variant[] = ['strategy', 'runner', 'bare'];

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const bus = await connectBus(stores.natsUrl, 'bench', log);
  cleanup.add(() => bus.close());
  await fill(bus);
  const rates: Record<Variant, number[]> = { strategy: [], runner: [], bare: [] };
  const batchSizes: Record<Variant, number[]> = { strategy: [], runner: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Alternates the order, so that a variant does not always follow the same other variant.
    for (const variant of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const name = `bench-${variant}-${round}`;
      const { rate, batchSize } = await variants[variant](bus, {
        stream: 'CHECKS',
        name,
        batchSize: BATCH,
      });
      await bus.jsm.consumers.delete('CHECKS', name);
      // The first round warms up.
      if (round === 0) continue;
      rates[variant].push(rate);
      batchSizes[variant].push(batchSize);
    }
    if (round > 0) printProgress(`round ${round} of ${ROUNDS}`);
  }
  table(
    [`messages a second, ${BYTES} bytes, batches of ${BATCH}`, 'median', 'lowest', 'highest', 'in a batch'],
    [
      ['controller, by the strategy', ...cells(rates.strategy), ...cells(batchSizes.strategy).slice(0, 1)],
      ['runner alone', ...cells(rates.runner), ...cells(batchSizes.runner).slice(0, 1)],
      ['bare loop of nats.js', ...cells(rates.bare), ...cells(batchSizes.bare).slice(0, 1)],
    ],
  );
  target('strategy / runner', median(ratios(rates.strategy, rates.runner)), 0.95, 'at least');
  console.log(`runner / bare loop: ${median(ratios(rates.runner, rates.bare)).toFixed(2)}`);
  console.log(`strategy / bare loop: ${median(ratios(rates.strategy, rates.bare)).toFixed(2)}`);
});

function cells(values: readonly number[]): string[] {
  const all = [median(values), quantile(values, 0), quantile(values, 1)];
  return all.map((value) => Math.round(value).toLocaleString('en'));
}

async function fill(bus: Bus): Promise<void> {
  const data = new Uint8Array(BYTES);
  for (let sent = 0; sent < MESSAGES; sent += PUBLISHED_AT_ONCE) {
    const window = Math.min(PUBLISHED_AT_ONCE, MESSAGES - sent);
    await Promise.all(Array.from({ length: window }, () => bus.js.publish('checks.bench.bench', data)));
  }
}
