/**
 * How many webhooks a second leave the real delivery service, every attempt recorded: beside a bare undici loop,
 * beside a BullMQ worker, and with ten of a hundred endpoints hanging. Interleaved rounds of one run.
 * `npm run -s build && node dist/bench/webhooks.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { connectBus, type Bus } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { cpuText, cpuTimes } from './cpu-time.js';
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
Usage: node dist/bench/webhooks.js [--events 20000] [--rounds 5] [--hang-rounds 3] [--only rates|hanging]

Deliveries a second of the delivery service (JetStream in, ATTEMPTS out) against a bare undici loop and a BullMQ
worker (where redis-server is installed), and with 10 of 100 endpoints hanging. About two minutes.
`);

const EVENTS = numberOption('events', 20_000);
const ROUNDS = numberOption('rounds', 5);
const HANG_ROUNDS = numberOption('hang-rounds', 3);
const ONLY = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
/** Requests at once, of every contestant: what the delivery service allows itself over all endpoints. */
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

/** Deliveries a second, in rounds: ours, the bare loop, BullMQ. */
async function compareRates(
  stage: Stage,
  start: () => Promise<BenchProgram>,
  cleanup: Cleanup,
): Promise<void> {
  const delivery = await start();
  const bare = await startPeer('bare-loop', cleanup);
  const bull = await startBull(cleanup);
  const rates = { ours: [] as number[], bare: [] as number[], bull: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ours = await deliverOurs(stage, delivery, makeEvents(stage.scene, EVENTS));
    const loop = await deliverBare(stage, bare);
    const jobs = bull && (await deliverBull(stage, bull));
    say(
      `${round === 0 ? 'warming up' : `round ${round}`}: ours ${whole(ours.rate)}/s, bare loop ${whole(loop)}/s, ` +
        `BullMQ ${jobs === undefined ? 'absent' : `${whole(jobs)}/s`}, load ${load()}`,
    );
    say(`  processor seconds of ours: ${ours.cpu}`);
    if (round === 0) continue;
    rates.ours.push(ours.rate);
    rates.bare.push(loop);
    if (jobs !== undefined) rates.bull.push(jobs);
  }
  await delivery.stop();
  const ofBare = ratios(rates.ours, rates.bare);
  const ofBull = ratios(rates.ours, rates.bull);
  console.log(`\nMedians of ${ROUNDS} rounds, ratios round by round (load ${load()})\n`);
  table(
    ['', 'deliveries/s', 'ours / it'],
    [
      ['delivery service', whole(median(rates.ours)), ''],
      ['bare undici loop', whole(median(rates.bare)), median(ofBare).toFixed(2)],
      bull
        ? ['BullMQ worker (appendonly, everysec)', whole(median(rates.bull)), median(ofBull).toFixed(2)]
        : ['BullMQ worker', 'absent', ''],
    ],
  );
  console.log('');
  target('deliveries against the bare loop', median(ofBare), 0.5, 'at least');
  if (bull) target('deliveries against BullMQ', median(ofBull), 2, 'at least');
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

/** The same 100 endpoints with ten of them hanging, and with none: deliveries a second of the other ninety. */
async function compareHanging(stage: Stage, start: () => Promise<BenchProgram>): Promise<void> {
  const rates = { none: [] as number[], ten: [] as number[] };
  for (let round = 1; round <= HANG_ROUNDS; round += 1)
    for (const hangs of round % 2 === 0 ? [true, false] : [false, true]) {
      // A process of its own for each: what one run remembers of its endpoints must not help or hinder the next.
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
 * Fills EVENTS while the service is held, lets it go, and waits until the receiver has every delivery and ATTEMPTS
 * every attempt. With `onlyHealthy` those to the shaky endpoints are not waited for.
 */
async function deliverOurs(
  stage: Stage,
  delivery: BenchProgram,
  events: readonly SceneEvent[],
  onlyHealthy = false,
): Promise<{ rate: number; cpu: string }> {
  const { bus, receiver, scene } = stage;
  const healthy = new Set(
    scene.watches.filter(({ path }) => path.startsWith('/hook/')).map(({ watchId }) => watchId),
  );
  const counted = events.filter(({ subject }) => healthy.has(subject.split('.')[2] ?? ''));
  const before = await attemptsOf(bus, healthy);
  delivery.hold();
  await publish(bus, events);
  const received = receiver.ask<Received>('expect', onlyHealthy ? counted.length : events.length);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  delivery.resume();
  const { refused, checked } = await received;
  while ((await attemptsOf(bus, healthy)) - before < counted.length) await wait(5);
  const seconds = (performance.now() - began) / 1000;
  const used = cpuText(cpu, cpuTimes());
  if (refused > 0 || checked === 0) throw new Error(`${refused} of ${checked} checked signatures do not fit`);
  return { rate: counted.length / seconds, cpu: used };
}

async function attemptsOf({ jsm }: Bus, watchIds: ReadonlySet<string>): Promise<number> {
  const { state } = await jsm.streams.info('ATTEMPTS', { subjects_filter: 'attempts.>' });
  return Object.entries(state.subjects ?? {})
    .filter(([subject]) => watchIds.has(subject.split('.')[2] ?? ''))
    .reduce((sum, [, count]) => sum + count, 0);
}

async function deliverBare({ receiver, url, scene }: Stage, bare: Peer): Promise<number> {
  const run: BareRun = {
    url,
    paths: scene.watches.map(({ path }) => path),
    count: EVENTS,
    concurrency: CONCURRENCY,
    body: makeEvents(scene, 1)[0]?.body ?? '',
  };
  return rateOf(receiver, () => bare.ask('send', run));
}

async function deliverBull({ receiver, url, scene }: Stage, bull: Peer): Promise<number> {
  const events = makeEvents(scene, EVENTS).map(({ id, body }) => ({ id, body }));
  const paths = scene.watches.map(({ path }) => path);
  await bull.ask('fill', {
    url,
    paths,
    concurrency: CONCURRENCY,
    secret: scene.secret,
    events,
  } satisfies BullRun);
  const rate = await rateOf(receiver, () => bull.ask('work'));
  await bull.ask('clear');
  return rate;
}

async function rateOf(receiver: Peer, work: () => Promise<unknown>): Promise<number> {
  const received = receiver.ask<Received>('expect', EVENTS);
  await receiver.ask('ready');
  const cpu = cpuTimes();
  const began = performance.now();
  await Promise.all([received, work()]);
  say(`  processor seconds: ${cpuText(cpu, cpuTimes())}`);
  return EVENTS / ((performance.now() - began) / 1000);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
