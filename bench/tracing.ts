/**
 * Measures the cost of tracing: how fast accumulated checks pass through analysis to the webhook and all
 * tables, with tracing off and with 1 % of the traces recorded. The same installation is started again for
 * each measurement. `npm run -s build && node dist/bench/tracing.js`
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { connectBus, type Bus, type StreamName } from '#messaging';
import { openDatabase } from '#postgres';
import { createLogger } from '#telemetry';
import { cpuTimes } from './cpu-time.js';
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
  temporaryDirectory,
  type Cleanup,
} from './harness.js';
import { Peer } from './peer.js';
import { MASTER_KEY, programEnv, startProgram } from './program.js';
import type { Received } from './webhooks/receiver.js';
import { makeChecks, makeScene, type Scene } from './webhooks/scene.js';

helpWanted(`
Usage: node dist/bench/tracing.js [--checks 1000] [--items 10] [--share 0.01] [--rounds 6]

Measures the way from a check to its webhooks and tables, with tracing off and with a share of the traces recorded. Prints the
events a second and the mean processor time of an event. Takes about twenty minutes.
`);

const CHECKS = numberOption('checks', 1000);
const ITEMS = numberOption('items', 10);
const SHARE = numberOption('share', 0.01);
const ROUNDS = numberOption('rounds', 6);
const EVENTS = CHECKS * ITEMS;
/** The first messages of a process are slow, because its code is not compiled yet. */
const WARM_UP = Math.ceil(CHECKS / 2);
const WATCHES = 100;
const WINDOW = 200;

interface Setup {
  bus: Bus;
  scene: Scene;
  receiver: Peer;
  start(more: NodeJS.ProcessEnv): ReturnType<typeof startProgram>;
}

interface Turn {
  /** Events per second. */
  rate: number;
  /** Mean processor time of the services per event, in µs; without the stores. */
  micros: number;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const receiver = await Peer.start(new URL('./webhooks/receiver.js', import.meta.url));
  cleanup.add(() => receiver.stop());
  const url = await receiver.ask<string>('url');
  const bus = await connectBus(stores.natsUrl, 'bench', createLogger('bench', 'error'));
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => Promise.all([bus.close(), database.destroy()]));
  const paths = Array.from({ length: WATCHES }, (_, n) => `/hook/${n}`);
  const scene = await makeScene(database, MASTER_KEY, url, paths);
  await receiver.ask('secret', scene.secret);
  const collector = await startCollector(cleanup);
  const env = programEnv(stores, { DATA_DIR: temporaryDirectory(cleanup) });
  const start = (more: NodeJS.ProcessEnv) => startProgram('earshot', { ...env, ...more }, cleanup);
  const setup: Setup = { bus, scene, receiver, start };

  const recording = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: String(SHARE),
  };
  const off: Turn[] = [];
  const on: Turn[] = [];
  // The first round creates the consumers, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const isOn of round % 2 === 0 ? [true, false] : [false, true]) {
      const one = await turn(setup, isOn ? recording : {}, isOn ? SHARE : 0);
      printProgress(
        `round ${round}, ${isOn ? 'recording' : 'off'}: ${whole(one.rate)}/s, ${whole(one.micros)} µs each, load ${load()}`,
      );
      if (round > 0) (isOn ? on : off).push(one);
    }
  if (collector.spanBytes() === 0) throw new Error('the collector got no spans');
  report(off, on, collector.spanBytes());
});

/** Starts the installation, warms it up, and lets it process the checks. */
async function turn(setup: Setup, more: NodeJS.ProcessEnv, share: number): Promise<Turn> {
  const program = await setup.start(more);
  await processBacklog(setup, WARM_UP, share, program);
  const measured = await processBacklog(setup, CHECKS, share, program);
  await program.stop();
  return measured;
}

/**
 * Fills CHECKS while the installation is suspended, resumes it, and waits until every consumer of CHECKS, EVENTS and
 * ATTEMPTS has processed everything.
 */
async function processBacklog(
  { bus, scene, receiver }: Setup,
  checks: number,
  share: number,
  program: Awaited<ReturnType<Setup['start']>>,
): Promise<Turn> {
  const events = checks * ITEMS;
  program.suspend();
  await publishChecks(bus, scene, checks, share);
  const received = receiver.ask<Received>('expect', events);
  await receiver.ask('ready');
  const before = cpuTimes().get('earshot') ?? 0;
  const began = performance.now();
  program.resume();
  const { refused, checked } = await received;
  while (!(await isDrained(bus))) await wait(5);
  const seconds = (performance.now() - began) / 1000;
  const used = (cpuTimes().get('earshot') ?? 0) - before;
  if (checked === 0) throw new Error('no signature was checked');
  if (refused > 0) throw new Error(`${refused} of ${checked} checked signatures are invalid`);
  return { rate: events / seconds, micros: (used * 1e6) / events };
}

/** Publishes checks. Each has its own trace, as after a separate read. A share of the traces is recorded. */
async function publishChecks({ js }: Bus, scene: Scene, count: number, share: number): Promise<void> {
  const checks = makeChecks(scene, count, ITEMS);
  for (let at = 0; at < checks.length; at += WINDOW)
    await Promise.all(
      checks.slice(at, at + WINDOW).map(({ subject, data, id }, index) => {
        const isRecorded = share > 0 && (at + index) % Math.round(1 / share) === 0;
        const headers = natsHeaders();
        const [trace, step] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
        headers.set('traceparent', `00-${trace}-${step}-${isRecorded ? '01' : '00'}`);
        return js.publish(subject, data, { msgID: id, headers });
      }),
    );
}

async function isDrained({ jsm }: Bus): Promise<boolean> {
  const streams: StreamName[] = ['CHECKS', 'EVENTS', 'ATTEMPTS'];
  for (const stream of streams)
    for await (const { num_pending, num_ack_pending } of jsm.consumers.list(stream))
      if (num_pending + num_ack_pending > 0) return false;
  return true;
}

/** Accepts spans and counts their bytes. */
async function startCollector(cleanup: Cleanup): Promise<{ url: string; spanBytes(): number }> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spanBytes: () => bytes };
}

function report(off: readonly Turn[], on: readonly Turn[], spanBytes: number): void {
  const rates = (turns: readonly Turn[]) => turns.map(({ rate }) => rate);
  const micros = (turns: readonly Turn[]) => turns.map((one) => one.micros);
  console.log(
    `\n${whole(EVENTS)} events of ${whole(CHECKS)} checks a turn, ${ROUNDS} turns each; ${(spanBytes / 1e6).toFixed(1)} MB of spans (load ${load()})\n`,
  );
  const line = (name: string, turns: readonly Turn[]) => [
    name,
    whole(median(rates(turns))),
    whole(median(micros(turns))),
  ];
  table(
    ['from check to webhook and tables', 'events/s', 'µs of processor time'],
    [line('tracing off', off), line(`${SHARE * 100} % of the traces recorded`, on)],
  );
  console.log('');
  target('rate, recording / off', median(ratios(rates(on), rates(off))), 0.95, 'at least');
  target('processor time, off / recording', median(ratios(micros(off), micros(on))), 0.95, 'at least');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
