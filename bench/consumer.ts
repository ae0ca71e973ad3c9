/**
 * What the transport costs a consumer that does nothing: messages a second through a controller's method, through the
 * runner below it, and through a bare loop of nats.js.
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
  say,
  table,
  target,
} from './harness.js';

helpWanted(`
Usage: node dist/bench/consumer.js [--messages 100000] [--rounds 6] [--batch 500] [--bytes 500]

Messages a second of a consumer that acknowledges and does nothing else, on one stream that is full at the start: declared
on a Nest controller (the strategy), run by the runner alone (what a consumer was before there was the strategy), and a bare
pull loop of nats.js. About one minute.
`);

const MESSAGES = numberOption('messages', 100_000);
const ROUNDS = numberOption('rounds', 6);
const BATCH = numberOption('batch', 500);
const BYTES = numberOption('bytes', 500);
const PUBLISHED_AT_ONCE = 1000;

const log = createLogger('bench', 'silent');

/** Counts messages; its clock runs from the first to the last. */
class Stopwatch {
  private seen = 0;
  private began = 0;
  private end: (rate: number) => void = () => undefined;
  /** Messages a second, once all have come. */
  readonly rate = new Promise<number>((resolve) => (this.end = resolve));

  readonly handle = async (batch: readonly unknown[]): Promise<Outcome[]> => {
    if (this.seen === 0) this.began = performance.now();
    this.seen += batch.length;
    if (this.seen === MESSAGES) this.end((MESSAGES / (performance.now() - this.began)) * 1000);
    return batch.map(() => done);
  };
}

const contestants = {
  async strategy(bus: Bus, options: ConsumerOptions): Promise<number> {
    const watch = new Stopwatch();
    @Controller()
    class Counting {
      @ConsumerPattern(options)
      count(batch: readonly JsMsg[]): Promise<Outcome[]> {
        return watch.handle(batch);
      }
    }
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(
      { module: class BenchModule {}, controllers: [mixin(Counting)] },
      { strategy: new NatsStrategy(bus, log), logger: false },
    );
    await app.listen();
    const rate = await watch.rate;
    await app.close();
    return rate;
  },

  async runner(bus: Bus, options: ConsumerOptions): Promise<number> {
    const watch = new Stopwatch();
    const running = await runDurable(bus, { ...options, handle: watch.handle }, log);
    const rate = await watch.rate;
    await running.stop();
    return rate;
  },

  async bare(bus: Bus, { stream, name, batchSize }: ConsumerOptions): Promise<number> {
    const watch = new Stopwatch();
    await bus.jsm.consumers.add(stream, {
      durable_name: name,
      max_ack_pending: Math.max(2000, batchSize * 4),
    });
    const consumer = await bus.js.consumers.get(stream, name);
    for (let left = MESSAGES; left > 0;) {
      const messages = await consumer.fetch({ max_messages: Math.min(left, batchSize), expires: 5000 });
      for await (const message of messages) {
        message.ack();
        await watch.handle([message]);
        left -= 1;
      }
    }
    await bus.nc.flush();
    return watch.rate;
  },
};

type Contestant = keyof typeof contestants;
const NAMES: readonly Contestant[] = ['strategy', 'runner', 'bare'];

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const bus = await connectBus(stores.natsUrl, 'bench', log);
  cleanup.add(() => bus.close());
  await fill(bus);
  const rates: Record<Contestant, number[]> = { strategy: [], runner: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let turn = 0; turn < NAMES.length; turn += 1) {
      // Another one begins in each round.
      const contestant = NAMES[(round + turn) % NAMES.length] as Contestant;
      const name = `bench-${contestant}-${round}`;
      const rate = await contestants[contestant](bus, { stream: 'CHECKS', name, batchSize: BATCH });
      await bus.jsm.consumers.delete('CHECKS', name);
      // The first round warms up.
      if (round > 0) rates[contestant].push(rate);
    }
    if (round > 0) say(`round ${round} of ${ROUNDS}`);
  }
  table(
    [`messages a second, ${BYTES} bytes, batches of ${BATCH}`, 'median', 'lowest', 'highest'],
    [
      ['controller, by the strategy', ...cells(rates.strategy)],
      ['runner alone', ...cells(rates.runner)],
      ['bare loop of nats.js', ...cells(rates.bare)],
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
