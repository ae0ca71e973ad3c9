/**
 * Measures the delay that the request quota adds to a request, if requests arrive at the rate of the plan. Then
 * measures how a flood of requests from one account slows the reads of another account.
 * `npm run -s build && node dist/bench/quota.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { limitsOf, type Plan } from '#contracts';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { RequestQuota } from '../apps/gateway/quota/request-quota.js';
import { openBenchAccount, type BenchAccount } from './account.js';
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
import { Peer } from './peer.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/quota.js [--seconds 60] [--rounds 6] [--flood 500]

Measures how long the quota takes for each request of an account that sends requests at the rate of its plan, with a real
Postgres. Then measures the p99 of the reads of one account, alternately alone and while another account sends --flood requests
a second. Takes about five minutes.
`);

const SECONDS = numberOption('seconds', 60);
const ROUNDS = numberOption('rounds', 6);
const FLOOD_RATE = numberOption('flood', 500);
const ROUND_SECONDS = 8;
const READS_PER_SECOND = 50;
const PACED: readonly Plan[] = ['solo', 'pro', 'unlimited'];

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench');
  cleanup.add(() => database.destroy());
  await addedLatency(database);
  const gateway = await startProgram('gateway', programEnv(stores), cleanup);
  const peer = await Peer.start(new URL('./quota/flood.js', import.meta.url));
  cleanup.add(() => peer.stop());
  await floods(gateway.url, peer, await openBenchAccount(database), await openBenchAccount(database, 'free'));
});

/** Measures only the quota: the time that a request waits in `take`. */
async function addedLatency(database: Database): Promise<void> {
  const quota = new RequestQuota(database, createLogger('bench', 'error'));
  quota.start();
  // Warms the code up before the measurement.
  for (let n = 0; n < 2000; n += 1) await quota.take('019a0000-0000-7000-8000-000000000000', 12_000);
  const rows: (string | number)[][] = [];
  for (const plan of PACED) {
    const { requestsPerMinute } = limitsOf(plan);
    printProgress(`${plan}: ${requestsPerMinute} requests a minute, for ${SECONDS} s`);
    const { kept, nothing, waited } = await paced(requestsPerMinute / 60, SECONDS, (accountId) =>
      quota.take(accountId, requestsPerMinute),
    );
    rows.push([plan, kept.length, waited, ...spread(kept)]);
    rows.push([`${plan}, without the quota`, nothing.length, 0, ...spread(nothing)]);
    const added = quantile(kept, 0.99) - quantile(nothing, 0.99);
    target(`p99 added by the quota check of ${plan}, ms`, added, 0.1, 'at most');
  }
  await quota.stop();
  table(['delay by the quota, ms', 'requests', 'waited for a lease', 'p50', 'p99', 'max'], rows);
}

/**
 * Sends requests as often as the plan allows. Halfway between two requests, the same measurement is made without any
 * work. It shows the delays of a few microseconds that the machine itself causes.
 * @returns the delay of each request and of each empty measurement, in ms, and the number of requests that waited
 */
async function paced(
  perSecond: number,
  seconds: number,
  take: (accountId: string) => unknown,
): Promise<{ kept: number[]; nothing: number[]; waited: number }> {
  const accountId = newId();
  const kept: number[] = [];
  const nothing: number[] = [];
  let waited = 0;
  const began = performance.now();
  const at = (n: number) => wait(Math.max(0, began + (n * 1000) / perSecond - performance.now()));
  for (let n = 0; n < perSecond * seconds; n += 1) {
    await at(n);
    let asked = performance.now();
    const verdict = take(accountId);
    if (verdict instanceof Promise) waited += 1;
    await verdict;
    kept.push(performance.now() - asked);
    await at(n + 0.5);
    asked = performance.now();
    await undefined;
    nothing.push(performance.now() - asked);
  }
  return { kept, nothing, waited };
}

/** Measures 50 reads a second of one account, alternately alone and during the flood. */
async function floods(url: string, peer: Peer, calm: BenchAccount, loud: BenchAccount): Promise<void> {
  const pool = new Pool(url, { connections: 4, pipelining: 1 });
  const path = '/v1/keywords';
  const alone: number[][] = [];
  const beside: number[][] = [];
  const answers: Record<string, number> = {};
  await reads(pool, path, calm.apiKey, 3);
  for (let round = 0; round < ROUNDS; round += 1) {
    printProgress(`flood, round ${round + 1} of ${ROUNDS}`);
    alone.push(await reads(pool, path, calm.apiKey, ROUND_SECONDS));
    await peer.ask('begin', { url, path, apiKey: loud.apiKey, rate: FLOOD_RATE, connections: 16 });
    await wait(1000);
    beside.push(await reads(pool, path, calm.apiKey, ROUND_SECONDS));
    const counts = await peer.ask<Record<string, number>>('end');
    for (const [status, count] of Object.entries(counts)) answers[status] = (answers[status] ?? 0) + count;
  }
  table(
    ['reads of an account, ms', 'requests', 'p50', 'p95', 'p99'],
    [
      ['alone', ...figures(alone.flat())],
      [`while another account sends ${FLOOD_RATE}/s and may send 1/s`, ...figures(beside.flat())],
    ],
  );
  console.log(`the flood was answered: ${JSON.stringify(answers)}`);
  const worst = (rounds: readonly number[][]) => rounds.map((times) => quantile(times, 0.99));
  target('p99 during the flood / alone', median(ratios(worst(beside), worst(alone))), 1.5, 'at most');
  await pool.close();
}

async function reads(pool: Pool, path: string, apiKey: string, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const open: Promise<void>[] = [];
  const began = performance.now();
  for (let n = 0; n < READS_PER_SECOND * seconds; n += 1) {
    await wait(Math.max(0, began + (n * 1000) / READS_PER_SECOND - performance.now()));
    open.push(read(pool, path, apiKey, times));
  }
  await Promise.all(open);
  return times;
}

async function read(pool: Pool, path: string, apiKey: string, times: number[]): Promise<void> {
  const asked = performance.now();
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  await body.dump();
  if (statusCode !== 200) throw new Error(`the calm account was answered ${statusCode}`);
  times.push(performance.now() - asked);
}

function spread(times: readonly number[]): string[] {
  return [median(times).toFixed(4), quantile(times, 0.99).toFixed(4), Math.max(...times).toFixed(2)];
}

function figures(times: readonly number[]): (string | number)[] {
  return [times.length, ...[0.5, 0.95, 0.99].map((part) => quantile(times, part).toFixed(2))];
}
