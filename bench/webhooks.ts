/**
 * Measures how many webhooks per second the real delivery service sends, with every attempt recorded. The baselines are
 * a bare undici loop with the same signatures, and a BullMQ worker. A second measurement runs while ten of a hundred
 * endpoints hang. The programs take turns in the rounds of one run.
 * `npm run -s build && node dist/bench/webhooks.js`
 */
import { connectBus } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import {
  benchStores,
  helpWanted,
  load,
  median,
  numberOption,
  ratios,
  runBench,
  printProgress,
  table,
  target,
  textOption,
  type Cleanup,
} from './harness.js';
import { Peer } from './peer.js';
import { MASTER_KEY, programEnv, startProgram, type BenchProgram } from './program.js';
import { startRedis } from './webhooks/redis.js';
import {
  CONCURRENCY,
  deliverBare,
  deliverBull,
  deliverOurs,
  type Round,
  type Stage,
} from './webhooks/rounds.js';
import { makeEvents, makeScene } from './webhooks/scene.js';

helpWanted(`
Usage: node dist/bench/webhooks.js [--events 20000] [--rounds 6] [--hang-rounds 3] [--only rates|hanging]

Prints the deliveries per second and the processor time per delivery of three programs: the delivery service (JetStream in,
ATTEMPTS out), a bare undici loop that signs in the same way, and a BullMQ worker (if redis-server and ioredis are installed).
Then measures the delivery service while 10 of 100 endpoints hang. Takes about three minutes.
`);

const EVENTS = numberOption('events', 20_000);
const ROUNDS = numberOption('rounds', 6);
const HANG_ROUNDS = numberOption('hang-rounds', 3);
const ONLY = textOption('only', ['rates', 'hanging']);
const HEALTHY = Array.from({ length: 90 }, (_, n) => `/hook/${n}`);
const SHAKY = Array.from({ length: 10 }, (_, n) => `/hang/${n}`);
const WARM_UP = 10_000;

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
    `Webhooks: ${EVENTS} deliveries of ${makeEvents(scene, 1)[0]?.body.length} bytes a round, 100 endpoints, ${CONCURRENCY} concurrent requests.`,
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
    printProgress(`${round === 0 ? 'warming up' : `round ${round}`}, load ${load()}`);
    const ours = reported('ours', await deliverOurs(stage, delivery, makeEvents(stage.scene, EVENTS)));
    const loop = reported('bare loop', await deliverBare(stage, bare, EVENTS));
    const jobs = bull && reported('BullMQ', await deliverBull(stage, bull, EVENTS));
    if (round === 0) continue;
    rounds.ours.push(ours);
    rounds.bare.push(loop);
    if (jobs) rounds.bull.push(jobs);
  }
  await delivery.stop();
  console.log(
    `\nMedians of ${ROUNDS} rounds; each ratio is the median of the ratios of the rounds (load ${load()})\n`,
  );
  table(
    ['', 'deliveries/s', 'ours / this', 'µs of processor time', 'this / ours'],
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
  printProgress(
    `  ${name} ${whole(round.rate)}/s, ${whole(round.micros)} µs each; processor seconds: ${round.cpu}`,
  );
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
    printProgress('BullMQ is left out: redis-server is not installed');
    return undefined;
  }
  const bull = await startPeer('bullmq-worker', cleanup, [String(redisPort)]);
  if (await bull.ask<boolean>('hasClient')) return bull;
  printProgress('BullMQ is left out: its client ioredis is not installed; run npm ci');
  return undefined;
}

/** Measures deliveries per second to 90 of 100 endpoints, while the other ten hang and while none hangs. */
async function compareHanging(stage: Stage, start: () => Promise<BenchProgram>): Promise<void> {
  const rates = { none: [] as number[], ten: [] as number[] };
  for (let round = 1; round <= HANG_ROUNDS; round += 1)
    for (const hangs of round % 2 === 0 ? [true, false] : [false, true]) {
      // Each run has a separate process, because a process keeps the state of endpoints from an earlier run.
      const delivery = await start();
      await deliverOurs(stage, delivery, makeEvents(stage.scene, WARM_UP));
      await stage.receiver.ask('hang', hangs);
      const events = makeEvents(stage.scene, EVENTS);
      const { rate } = await deliverOurs(stage, delivery, events, { onlyHealthy: true, hangs });
      printProgress(
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
  target('healthy endpoints while ten others hang / none hangs', ratio, 0.95, 'at least');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
