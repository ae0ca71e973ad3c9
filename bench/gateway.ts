/**
 * Measures a small authenticated read through the gateway (key, quota, route, one row of Postgres), compared
 * with raw Fastify that reads the same row. `npm run -s build && node dist/bench/gateway.js`
 */
import { Pool } from 'undici';
import { openDatabase } from '#postgres';
import { openBenchAccount, type BenchAccount } from './account.js';
import { processesBelow } from './cpu-time.js';
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
} from './harness.js';
import { Peer } from './peer.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/gateway.js [--requests 6000] [--rounds 6] [--at-once 32]

Sends GET /v1/account for 64 accounts in turn to three programs: the gateway, raw Fastify that reads the same row with pg, and
raw Fastify that answers a constant of the same size. Prints for each program the requests a second and its processor time for a
request. Takes about a minute.
`);

const REQUESTS = numberOption('requests', 6000);
const ROUNDS = numberOption('rounds', 6);
const AT_ONCE = numberOption('at-once', 32);
/** There are many accounts, because the requests would exhaust the quota of a single account. */
const ACCOUNTS = 64;

interface Variant {
  name: string;
  pid: number;
  pool: Pool;
  path: string;
  headers(account: BenchAccount): Record<string, string>;
  /** Requests per second, and µs of processor time per request, of each round. */
  rates: number[];
  costs: number[];
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const gateway = await startProgram('gateway', programEnv(stores), cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench');
  cleanup.add(() => database.destroy());
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => openBenchAccount(database)));
  const raw = await Peer.start(new URL('./gateway/raw-fastify.js', import.meta.url), [stores.databaseUrl]);
  cleanup.add(() => raw.stop());
  const { url: rawUrl, pid: rawPid } = await raw.ask<{ url: string; pid: number }>('address');
  const variant = (
    name: string,
    pid: number,
    url: string,
    path: string,
    headers: Variant['headers'],
  ): Variant => {
    const pool = new Pool(url, { connections: AT_ONCE });
    cleanup.add(() => pool.destroy());
    return { name, pid, pool, path, headers, rates: [], costs: [] };
  };
  const ours = variant('gateway', gateway.pid, gateway.url, '/v1/account', ({ apiKey }) => ({
    'x-api-key': apiKey,
  }));
  const row = variant('raw Fastify, same row', rawPid, rawUrl, '/account', ({ accountId }) => ({
    'x-account': accountId,
  }));
  const constant = variant('raw Fastify, constant', rawPid, rawUrl, '/constant', () => ({}));
  const all = [ours, row, constant];
  for (const one of all) await ask(one, accounts, REQUESTS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    // Alternates the order, so that a variant does not always follow the same other variant.
    for (const one of round % 2 === 0 ? all.toReversed() : all) await measure(one, accounts);
    printProgress(
      `round ${round}: ${all.map(({ name, rates }) => `${name} ${rates.at(-1)?.toFixed(0)}`).join(', ')}`,
    );
  }
  table(
    ['', 'requests/s', 'µs of processor time'],
    all.map(({ name, rates, costs }) => [name, median(rates).toFixed(0), median(costs).toFixed(0)]),
  );
  target(
    'rate, gateway / raw Fastify with the same row',
    median(ratios(ours.rates, row.rates)),
    0.4,
    'at least',
  );
  target('processor time, raw Fastify / gateway', median(ratios(row.costs, ours.costs)), 0.4, 'at least');
  console.log(
    `rate, gateway / constant: ${median(ratios(ours.rates, constant.rates)).toFixed(2)}; load ${load()}`,
  );
});

async function measure(one: Variant, accounts: readonly BenchAccount[]): Promise<void> {
  const [before, began] = [secondsOf(one.pid), performance.now()];
  await ask(one, accounts, REQUESTS);
  one.rates.push((REQUESTS / (performance.now() - began)) * 1000);
  one.costs.push(((secondsOf(one.pid) - before) / REQUESTS) * 1_000_000);
}

function secondsOf(pid: number): number {
  return processesBelow(pid).find((program) => program.pid === pid)?.seconds ?? Number.NaN;
}

/** Keeps `AT_ONCE` requests running until all are answered. */
async function ask(
  { name, pool, path, headers }: Variant,
  accounts: readonly BenchAccount[],
  requests: number,
): Promise<void> {
  let sent = 0;
  const runner = async () => {
    while (sent < requests) {
      const account = accounts[sent++ % accounts.length] as BenchAccount;
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers: headers(account) });
      await body.dump();
      if (statusCode !== 200) throw new Error(`${name} answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
}
