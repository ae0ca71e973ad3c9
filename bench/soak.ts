/**
 * Measures the memory of each program of the demo under a bounded load, by default for half an hour.
 * `npm run -s build && node dist/bench/soak.js`
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { freePort } from '#embedded';
import {
  helpWanted,
  load as loadAverage,
  numberOption,
  runBench,
  printProgress,
  table,
  target,
  temporaryDirectory,
  textOption,
  type Cleanup,
} from './harness.js';
import { Load } from './soak/load.js';
import { memoryBelow } from './soak/memory.js';
import { plot } from './soak/plot.js';
import { trendOf, type Point } from './soak/trend.js';

helpWanted(`
Usage: node dist/bench/soak.js [--minutes 30] [--load 10] [--run-in MINUTES] [--run-in-load 40] [--plot FILE.svg]
         [--samples FILE.csv] [--from FILE.csv]

Starts the demo in a temporary directory and sends it --load requests each second, of fifteen kinds (reads, estimates,
keywords that are created and purged, labels, webhook tests, refused bodies, bad keys). Samples the memory of each program
every ten seconds. With --load 0.001 there are almost no requests.
  --run-in MINUTES      first sends --run-in-load requests a second for this time, which fills the blocks that
                        nats-server keeps in memory (up to 8 MiB for each stream); the samples of this time have negative minutes
  --plot FILE.svg       draws the samples
  --samples FILE.csv    stores the samples
  --from FILE.csv       reports on the samples of an earlier run
`);

const MINUTES = numberOption('minutes', 30);
const PER_SECOND = numberOption('load', 10);
const RUN_IN_MINUTES = numberOption('run-in', 0);
const RUN_IN_PER_SECOND = numberOption('run-in-load', 40);
const PLOT = textOption('plot');
const SAMPLES = textOption('samples');
const EARLIER = textOption('from');
const SAMPLE_MS = 10_000;
const READY_WITHIN_MS = 120_000;
/** Memory counts as flat if the memory at the end of the run is at most this many times the baseline. */
const MAX_GROWTH = 1.1;
const MEASURES = ['rss', 'pss', 'anonymous'] as const;
const HEAP = 'heap of earshot';

/** Each program's memory over time, in MiB. */
type Series = Map<string, Record<(typeof MEASURES)[number], Point[]>>;

await runBench(async (cleanup) => {
  const series: Series = new Map();
  if (EARLIER) readSamples(EARLIER, series);
  else await soak(series, cleanup);
  report(series);
});

async function soak(series: Series, cleanup: Cleanup): Promise<void> {
  const directory = temporaryDirectory(cleanup);
  const demo = await startDemo(directory, cleanup);
  if (SAMPLES) writeFileSync(SAMPLES, `minute,program,${MEASURES.join(',')}\n`);
  if (RUN_IN_MINUTES > 0) {
    const runIn = new Load(demo.target, RUN_IN_PER_SECOND);
    await underLoad(runIn, demo, series, -RUN_IN_MINUTES, RUN_IN_MINUTES, cleanup);
  }
  const load = new Load(demo.target, PER_SECOND);
  await underLoad(load, demo, series, 0, MINUTES, cleanup);
  table(
    ['requests', 'sent', 'wrongly answered'],
    [...load.results].map(([name, { sent, wrong }]) => [
      name,
      sent,
      [...wrong].map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ') || 'none',
    ]),
  );
  if (load.leftOut > 0) console.log(`${load.leftOut} requests were skipped, because too many were running`);
  const logged = readFileSync(demo.log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'));
  console.log(`${logged.length} lines of the level warn or above in the log\n`);
}

/**
 * Samples the demo for some minutes while the load runs.
 * @param firstMinute the minute in which the load begins
 */
async function underLoad(
  load: Load,
  demo: Demo,
  series: Series,
  firstMinute: number,
  minutes: number,
  cleanup: Cleanup,
): Promise<void> {
  cleanup.add(() => load.stop());
  load.start();
  const began = performance.now();
  for (let n = 1; performance.now() - began < minutes * 60_000; n += 1) {
    await wait(Math.max(0, n * SAMPLE_MS - (performance.now() - began)));
    if (demo.child.exitCode !== null || demo.child.signalCode !== null)
      throw new Error(`the demo has ended:\n${lastLines(demo.log)}`);
    const minute = firstMinute + (performance.now() - began) / 60_000;
    await sample(series, demo.child.pid ?? 0, demo.target.url, minute);
    if (n % 6 === 0) printProgress(`minute ${firstMinute + n / 6} of ${MINUTES}, load ${loadAverage()}`);
  }
  await load.stop();
}

interface Demo {
  child: ChildProcess;
  /** The file with the demo's log. */
  log: string;
  target: ConstructorParameters<typeof Load>[0];
}

async function startDemo(directory: string, cleanup: Cleanup): Promise<Demo> {
  const port = await freePort();
  const log = join(directory, 'demo.log');
  const output = openSync(log, 'a', 0o600);
  const nodeArguments = (process.env.EARSHOT_BENCH_NODE ?? '').split(' ').filter(Boolean);
  const program = fileURLToPath(new URL('../apps/earshot/main.js', import.meta.url));
  const child = spawn(process.execPath, [...nodeArguments, program, '--demo'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: join(directory, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', output, output],
  });
  cleanup.add(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  const end = Date.now() + READY_WITHIN_MS;
  while (child.exitCode === null && Date.now() < end) {
    const account = accountIn(directory);
    if (account && (await isReady(url))) {
      const { apiKey, keywordIds } = account;
      const hookUrl = `http://127.0.0.1:${account.port}/hooks/tests`;
      return { child, log, target: { url, apiKey, keywordIds, hookUrl } };
    }
    await wait(200);
  }
  throw new Error(`the demo did not become ready:\n${lastLines(log)}`);
}

function accountIn(directory: string) {
  try {
    return JSON.parse(readFileSync(join(directory, 'data/demo/demo-account.json'), 'utf8')) as {
      apiKey: string;
      port: number;
      keywordIds: string[];
    };
  } catch {
    return undefined;
  }
}

async function isReady(url: string): Promise<boolean> {
  return request(`${url}/readyz`).then(
    async ({ statusCode, body }) => (await body.dump(), statusCode === 200),
    () => false,
  );
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').split('\n').slice(-20).join('\n');
}

async function sample(series: Series, pid: number, url: string, minute: number): Promise<void> {
  const heap = await heapOf(url);
  const found = [
    ...[...memoryBelow(pid)].map(([name, { rss, pss, anonymous }]) => [name, rss, pss, anonymous] as const),
    [HEAP, heap, heap, heap] as const,
  ];
  for (const [name, ...values] of found) {
    add(series, name, minute, values);
    if (SAMPLES)
      appendFileSync(
        SAMPLES,
        `${minute.toFixed(2)},${name},${values.map((one) => one.toFixed(1)).join(',')}\n`,
      );
  }
}

/**
 * Returns the used part of V8's heap, including garbage that is not collected yet; NaN if `/metrics` did not return it.
 */
async function heapOf(url: string): Promise<number> {
  const text = await request(`${url}/metrics`).then(
    ({ body }) => body.text(),
    () => '',
  );
  const bytes = /^nodejs_heap_size_used_bytes(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1];
  return bytes === undefined ? Number.NaN : Number(bytes) / 2 ** 20;
}

function add(series: Series, name: string, minute: number, values: readonly number[]): void {
  const lines = series.get(name) ?? { rss: [], pss: [], anonymous: [] };
  series.set(name, lines);
  MEASURES.forEach((measure, n) => {
    const value = values[n] ?? Number.NaN;
    if (!Number.isNaN(value)) lines[measure].push({ minute, value });
  });
}

function readSamples(file: string, series: Series): void {
  for (const line of readFileSync(file, 'utf8').trim().split('\n').slice(1)) {
    const [minute, name = '', ...values] = line.split(',');
    add(series, name, Number(minute), values.map(Number));
  }
}

/**
 * Returns proportional memory, because the process takes this amount from the machine. Returns resident memory if the
 * system does not report proportional memory.
 */
function mainLine({ rss, pss }: { rss: Point[]; pss: Point[] }): Point[] {
  return pss.length > 0 ? pss : rss;
}

/** Returns the samples from minute 0. The samples of the run-in have negative minutes, except its last sample. */
function withoutRunIn(series: Series): Series {
  const measured = (points: readonly Point[]) => points.filter(({ minute }) => minute >= 0);
  return new Map(
    [...series].map(([name, { rss, pss, anonymous }]) => [
      name,
      { rss: measured(rss), pss: measured(pss), anonymous: measured(anonymous) },
    ]),
  );
}

function report(all: Series): void {
  const series = withoutRunIn(all);
  const minutes = Math.max(...[...series.values()].flatMap(({ rss }) => rss.at(-1)?.minute ?? 0));
  const trends = [...series].map(([name, lines]) => {
    const [main, anonymous] = [trendOf(mainLine(lines), minutes), trendOf(lines.anonymous, minutes)];
    return { name, main, anonymous };
  });
  table(
    ['MiB', 'warm-up', 'baseline', 'last', 'last / baseline', 'MiB/h', 'anonymous, last', 'anonymous, MiB/h'],
    trends.map(({ name, main, anonymous }) => [
      name,
      main.warmUp.toFixed(0),
      main.baseline.toFixed(0),
      main.last.toFixed(0),
      (main.last / main.baseline).toFixed(3),
      main.slopePerHour.toFixed(1),
      anonymous.last.toFixed(0),
      anonymous.slopePerHour.toFixed(1),
    ]),
  );
  for (const { name, main } of trends)
    target(`${name}, last / baseline`, main.last / main.baseline, MAX_GROWTH, 'at most');
  if (PLOT)
    writeFileSync(
      PLOT,
      plot(
        EARLIER ? 'Memory of the demo' : `Memory of the demo at ${PER_SECOND} requests a second`,
        new Map([...series].map(([name, lines]) => [name, mainLine(lines)])),
      ),
    );
}
