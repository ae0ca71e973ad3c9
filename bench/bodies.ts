/**
 * Measures the gateway with the worst request bodies of up to 1 MiB that we know. For each body, it measures the mean
 * processor time of several requests.
 * `npm run -s build && node dist/bench/bodies.js`
 */
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { newId } from '#kernel';
import { openAccount } from '#testing';
import { WORST_BODIES } from './bodies/worst-bodies.js';
import { benchStores, helpWanted, numberOption, runBench, printProgress, table, target } from './harness.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/bodies.js [--repeats 20]

Sends hostile bodies to POST /v1/keywords/estimate with an Idempotency-Key, each body --repeats times. For each body, prints two
times in milliseconds: the mean processor time of the gateway for one request, and the time that JSON.parse needs for this body
in the process of the benchmark. Takes about a minute.
`);

const REPEATS = numberOption('repeats', 20);
const MAX_PROCESSOR_MS = 50;
/** Duration of a clock tick of `/proc/<pid>/stat`: a second has 100 ticks on every Linux that Node runs on. */
const TICK_MS = 10;

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  await startProgram('billing', programEnv(stores), cleanup);
  await startProgram('keywords', programEnv(stores), cleanup);
  const gateway = await startProgram('gateway', programEnv(stores), cleanup);
  const { apiKey } = await openAccount(stores.natsUrl);
  const ask = async (body: string) => {
    const answer = await request(`${gateway.url}/v1/keywords/estimate`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': newId() },
      body,
    });
    return { status: answer.statusCode, bytes: (await answer.body.text()).length };
  };
  // Warms the code up, because an attacked process has usually been running for a while.
  for (let n = 0; n < 5; n += 1) for (const body of Object.values(WORST_BODIES)) await ask(body);
  const rows: (string | number)[][] = [];
  let worst = 0;
  for (const [name, body] of Object.entries(WORST_BODIES)) {
    printProgress(name);
    const began = processorMs(gateway.pid);
    let last = { status: 0, bytes: 0 };
    for (let n = 0; n < REPEATS; n += 1) last = await ask(body);
    const ms = (processorMs(gateway.pid) - began) / REPEATS;
    const bare = parseMs(body);
    worst = Math.max(worst, ms);
    rows.push([
      name,
      Buffer.byteLength(body),
      last.status,
      last.bytes,
      ms.toFixed(1),
      bare.toFixed(1),
      (ms / bare).toFixed(1),
    ]);
  }
  table(['body', 'bytes', 'status', 'answer', 'gateway ms', 'JSON.parse ms', 'ratio'], rows);
  target('processor ms of the worst body', worst, MAX_PROCESSOR_MS, 'at most');
});

/** Returns the user and system time that a process has used so far. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Measures the baseline, which only parses the text. */
function parseMs(body: string): number {
  const began = performance.now();
  for (let n = 0; n < REPEATS; n += 1)
    try {
      JSON.parse(body);
    } catch {
      // The text is not JSON. Its parsing time counts as well.
    }
  return (performance.now() - began) / REPEATS;
}
