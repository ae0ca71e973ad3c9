/**
 * Measures how many webhooks per second the real delivery service sends, with every attempt recorded: against a bare
 * undici loop with the same signatures, against a BullMQ worker, and while ten of a hundred endpoints hang. Interleaved
 * rounds of one run. `npm run -s build && node dist/bench/webhooks.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy } from '@nats-io/jetstream';
import { attemptsIn } from '#contracts';
import { connectBus, type Bus } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { cpuText, cpuTimes, type CpuTimes } from './cpu-time.js';
import {
  benchStores,
  helpWanted,
  load,
  median,
  numberOption,
  ratios,
  runBench,
  say,
  table,
  target,
  type Cleanup,
} from './harness.js';
import { Peer } from './peer.js';
import { MASTER_KEY, programEnv, startProgram, type BenchProgram } from './program.js';
import type { BareRun } from './webhooks/bare-loop.js';
import type { BullRun } from './webhooks/bullmq-worker.js';
import type { Received } from './webhooks/receiver.js';
import { startRedis } from './webhooks/redis.js';
import { makeEvents, makeScene, publish, type Scene, type SceneEvent } from './webhooks/scene.js';

helpWanted(`
Usage: node dist/bench/webhooks.js [--events 20000] [--rounds 6] [--hang-rounds 3] [--only rates|hanging]

Deliveries a second, and processor time of each, of the delivery service (JetStream in, ATTEMPTS out) against a bare
undici loop that signs alike and a BullMQ worker (where redis-server is installed), and with 10 of 100 endpoints
hanging. About two minutes.
`);

const EVENTS = numberOption('events', 20_000);
const ROUNDS = numberOption('rounds', 6);
const HANG_ROUNDS = numberOption('hang-rounds', 3);
const ONLY = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
/** Concurrent requests of every contestant, equal to the limit of the delivery service over all endpoints. */
const CONCURRENCY = 128;
const HEALTHY = Array.from({ length: 90 }, (_, n) => `/hook/${n}`);
const SHAKY = Array.from({ length: 10 }, (_, n) => `/hang/${n}`);
const WARM_UP = 10_000;

interface Stage {
  bus: Bus;
  receiver: Peer;
  url: string;
  scene: Scene;
  forget(): Promise<void>;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const receiver = await startPeer('receiver', cleanup);
  const url = await receiver.ask<string>('url');
  const bus = await connectBus(stores.natsUrl, 'bench', createLogger('bench', 'error'));
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => Promise.all([bus.close(), database.destroy()]));
  const scene = await makeScene(database, MASTER_KEY, url, [...HEALTHY, ...SHAKY]);
  await receiver.ask('secret', scene.secret);
  const stage: Stage = {
    bus,
    receiver,
    url,
    scene,
    async forget() {
      await database.query('DELETE FROM pending_deliveries');
      await database.query('DELETE FROM webhook_endpoints');
    },
  };
  const env = programEnv(stores);
  console.log(
    `Webhooks: ${EVENTS} deliveries of ${makeEvents(scene, 1)[0]?.body.length} bytes a round, 100 endpoints, ${CONCURRENCY} requests at once.`,
  );
  if (ONLY !== 'hanging') await compareRates(stage, () => startProgram('delivery', env, cleanup), cleanup);
  if (ONLY !== 'rates') await compareHanging(stage, () => startProgram('delivery', env, cleanup));
});

function startPeer(name: string, cleanup: Cleanup, args: string[] = []): Promise<Peer> {
  return Peer.start(new URL(`./webhooks/${name}.js`, import.meta.url), args).then((peer) => {
    cleanup.add(() => peer.stop());
    return peer;
  });
}

/** The result of one contestant in a round. */
interface Round {
  /** Deliveries per second. */
  rate: number;
  /** Processor time of the contestant's own process per delivery, in µs. */
  micros: number;
  /** Processor time of every program. */
  cpu: string;
}

/** Measures rate and processor time in rounds: Earshot, the bare loop, BullMQ. */
async function compareRates(
  stage: Stage,
  start: () => Promise<BenchProgram>,
  cleanup: Cleanup,
): Promise<void> {
  const delivery = await start();
  const bare = await startPeer('bare-loop', cleanup);
  const bull = await startBull(cleanup);
  const rounds = { ours: [] as Round[], bare: [] as Round[], bull: [] as Round[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    say(`${round === 0 ? 'warming up' : `round ${round}`}, load ${load()}`);
    const ours = reported('ours', await deliverOurs(stage, delivery, makeEvents(stage.scene, EVENTS)));
    const loop = reported('bare loop', await deliverBare(stage, bare));
    const jobs = bull && reported('BullMQ', await deliverBull(stage, bull));
    if (round === 0) continue;
    rounds.ours.push(ours);
    rounds.bare.push(loop);
    if (jobs) rounds.bull.push(jobs);
  }
  await delivery.stop();
  console.log(`\nMedians of ${ROUNDS} rounds, ratios round by round (load ${load()})\n`);
  table(
    ['', 'deliveries/s', 'ours / it', 'µs of processor time', 'it / ours'],
    [
      lineOf('delivery service', rounds.ours, rounds.ours),
      lineOf('bare undici loop that signs', rounds.bare, rounds.ours),
      ...(bull ? [lineOf('BullMQ worker (appendonly, everysec)', rounds.bull, rounds.ours)] : []),
    ],
  );
  console.log('');
  target('rate against the bare loop', rateRatio(rounds.ours, rounds.bare), 0.45, 'at least');
  target('processor time against the bare loop', microsRatio(rounds.bare, rounds.ours), 0.5, 'at least');
  if (bull) target('rate against BullMQ', rateRatio(rounds.ours, rounds.bull), 1.6, 'at least');
}

function reported(name: string, round: Round): Round {
  say(`  ${name} ${whole(round.rate)}/s, ${whole(round.micros)} µs each; processor seconds: ${round.cpu}`);
  return round;
}

function lineOf(name: string, its: readonly Round[], ours: readonly Round[]): string[] {
  const figures = [
    whole(median(its.map(({ rate }) => rate))),
    rateRatio(ours, its).toFixed(2),
    whole(median(its.map(({ micros }) => micros))),
    microsRatio(its, ours).toFixed(2),
  ];
  return [name, ...figures];
}

function rateRatio(ours: readonly Round[], its: readonly Round[]): number {
  return median(
    ratios(
      ours.map(({ rate }) => rate),
      its.map(({ rate }) => rate),
    ),
  );
}

function microsRatio(its: readonly Round[], ours: readonly Round[]): number {
  return median(
    ratios(
      its.map(({ micros }) => micros),
      ours.map(({ micros }) => micros),
    ),
  );
}

async function startBull(cleanup: Cleanup): Promise<Peer | undefined> {
  const redisPort = await startRedis(cleanup);
  if (redisPort === undefined) {
    say('BullMQ is left out: redis-server is not installed');
    return undefined;
  }
  const bull = await startPeer('bullmq-worker', cleanup, [String(redisPort)]);
  if (await bull.ask<boolean>('hasClient')) return bull;
  say('BullMQ is left out: its client is not installed (npm install --no-save ioredis)');
  return undefined;
}

/** Measures deliveries per second to ninety of 100 endpoints, while the other ten hang, and while none hangs. */
async function compareHanging(stage: Stage, start: () => Promise<BenchProgram>): Promise<void> {
  const rates = { none: [] as number[], ten: [] as number[] };
  for (let round = 1; round <= HANG_ROUNDS; round += 1)
    for (const hangs of round % 2 === 0 ? [true, false] : [false, true]) {
      // A separate process for each, because a process remembers the state of endpoints from an earlier run.
      const delivery = await start();
      await deliverOurs(stage, delivery, makeEvents(stage.scene, WARM_UP));
      await stage.receiver.ask('hang', hangs);
      const { rate } = await deliverOurs(stage, delivery, makeEvents(stage.scene, EVENTS), hangs);
      say(
        `hanging, round ${round}: ${hangs ? 'ten hang' : 'none hangs'}: healthy ${whole(rate)}/s, load ${load()}`,
      );
      rates[hangs ? 'ten' : 'none'].push(rate);
      await stage.receiver.ask('hang', false);
      await delivery.stop();
      await stage.forget();
    }
  const ratio = median(ratios(rates.ten, rates.none));
  console.log(`\nThe 90 healthy of 100 endpoints, medians of ${HANG_ROUNDS} rounds (load ${load()})\n`);
  table(
    ['', 'deliveries/s to the 90'],
    [
      ['none hangs', whole(median(rates.none))],
      ['ten hang', whole(median(rates.ten))],
    ],
  );
  console.log('');
  target('healthy endpoints beside hanging ones', ratio, 0.95, 'at least');
}

/**
 * Fills EVENTS while the service is suspended, resumes it, and waits until the receiver has every delivery and the
 * service has acknowledged every event, which it does when the attempts are stored. With `onlyHealthy` the receiver
 * does not wait for deliveries to the hanging endpoints.
 * @throws Error when ATTEMPTS lacks an attempt, or a signature is wrong
 */
async function deliverOurs(
  stage: Stage,
  delivery: BenchProgram,
  events: readonly SceneEvent[],
  onlyHealthy = false,
): Promise<Round> {
  const { bus, receiver, scene } = stage;
  const healthy = new Set(
    scene.watches.filter(({ path }) => path.startsWith('/hook/')).map(({ watchId }) => watchId),
  );
  const counted = events.filter(({ subject }) => healthy.has(subject.split('.')[2] ?? ''));
  const from = (await bus.jsm.streams.info('ATTEMPTS')).state.last_seq + 1;
  delivery.hold();
  await publish(bus, events);
  const received = receiver.ask<Received>('expect', onlyHealthy ? counted.length : events.length);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  delivery.resume();
  const { refused, checked } = await received;
  while (!(await isDrained(bus))) await wait(5);
  const round = roundOf('delivery', onlyHealthy ? counted.length : events.length, began, cpu);
  if (refused > 0 || checked === 0) throw new Error(`${refused} of ${checked} checked signatures do not fit`);
  const recorded = await deliveredSince(bus, from);
  const missing = counted.filter(({ id }) => !recorded.has(id)).length;
  if (missing > 0) throw new Error(`ATTEMPTS lacks ${missing} of ${counted.length} deliveries`);
  return round;
}

async function isDrained({ jsm }: Bus): Promise<boolean> {
  const { num_pending, num_ack_pending } = await jsm.consumers.info('EVENTS', 'delivery');
  return num_pending + num_ack_pending === 0;
}

/** The events that were delivered according to ATTEMPTS, from a sequence on. */
async function deliveredSince({ js, jsm }: Bus, from: number): Promise<Set<string>> {
  const { last_seq: last } = (await jsm.streams.info('ATTEMPTS')).state;
  const delivered = new Set<string>();
  if (last < from) return delivered;
  const consumer = await js.consumers.get('ATTEMPTS', {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: from,
  });
  for await (const message of await consumer.consume()) {
    for (const attempt of attemptsIn(message.data)) if (attempt.delivered) delivered.add(attempt.eventId);
    if (message.seq >= last) break;
  }
  return delivered;
}

function roundOf(program: string, deliveries: number, began: number, before: CpuTimes): Round {
  const seconds = (performance.now() - began) / 1000;
  const after = cpuTimes();
  const used = (after.get(program) ?? 0) - (before.get(program) ?? 0);
  return {
    rate: deliveries / seconds,
    micros: (used * 1e6) / deliveries,
    cpu: cpuText(before, after),
  };
}

async function deliverBare({ receiver, scene, url }: Stage, bare: Peer): Promise<Round> {
  const run: BareRun = {
    url,
    paths: scene.watches.map(({ path }) => path),
    concurrency: CONCURRENCY,
    secret: scene.secret,
    events: makeEvents(scene, EVENTS).map(({ id, body }) => ({ id, body })),
  };
  await bare.ask('fill', run);
  return measured(receiver, 'bare-loop', () => bare.ask('send'));
}

async function deliverBull({ receiver, url, scene }: Stage, bull: Peer): Promise<Round> {
  const events = makeEvents(scene, EVENTS).map(({ id, body }) => ({ id, body }));
  const paths = scene.watches.map(({ path }) => path);
  await bull.ask('fill', {
    url,
    paths,
    concurrency: CONCURRENCY,
    secret: scene.secret,
    events,
  } satisfies BullRun);
  const round = await measured(receiver, 'bullmq-worker', () => bull.ask('work'));
  await bull.ask('clear');
  return round;
}

async function measured(receiver: Peer, program: string, work: () => Promise<unknown>): Promise<Round> {
  const received = receiver.ask<Received>('expect', EVENTS);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  await Promise.all([received, work()]);
  return roundOf(program, EVENTS, began, cpu);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
