/**
 * Measures the upstream requests of a million watches over a hundred thousand searches, on a virtual clock,
 * with the scheduler's own function. Also measures how soon a polling service with such a schedule in
 * Postgres sends its first request. `npm run -s build && node dist/bench/scheduler.js`
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { nextDue, originOf } from '../apps/polling/domain/next-due.js';
import {
  benchStores,
  helpWanted,
  load,
  numberOption,
  runBench,
  printProgress,
  table,
  target,
  type Cleanup,
} from './harness.js';
import { seeded } from './matching-data.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/scheduler.js [--watches 1000000] [--searches 100000] [--hours 24]

Counts the upstream requests of many watches on few searches, on a virtual clock, and compares them with the sum over distinct
searches. Then writes the same schedule into Postgres, and measures the time from the start of a polling service to its first
upstream request. Takes about two minutes.
`);

const WATCHES = numberOption('watches', 1_000_000);
const SEARCHES = numberOption('searches', 100_000);
const HOURS = numberOption('hours', 24);
const HORIZON_MS = HOURS * 3_600_000;
const START = Date.parse('2026-03-04T00:00:00.000Z');
/** Plausible intervals, from 30 s to 24 h. Each is drawn with the same probability. */
const INTERVALS = [30, 60, 120, 180, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];
const random = seeded(11);

/** The intervals of each search's watches, in seconds. The number of watches of a search is skewed. */
type Schedule = number[][];

await runBench(async (cleanup) => {
  const schedule = drawSchedule();
  requestsOfAll(schedule);
  requestsByWatchesPerSearch();
  await restart(cleanup, schedule);
  printProgress(load());
});

/**
 * Draws the watches by Zipf's law with exponent 1: the most watched search has tens of thousands of watches, and most
 * searches have one or a few.
 */
function drawSchedule(): Schedule {
  printProgress(`drawing ${WATCHES} watches over ${SEARCHES} searches`);
  const schedule: Schedule = Array.from({ length: SEARCHES }, () => [draw(INTERVALS)]);
  const harmonic = Math.log(SEARCHES) + 0.5772;
  for (let n = SEARCHES; n < WATCHES; n += 1) {
    const rank = Math.min(SEARCHES - 1, Math.floor(Math.exp(random() * harmonic) - 1));
    schedule[rank]?.push(draw(INTERVALS));
  }
  return schedule;
}

function draw<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function requestsOfAll(schedule: Schedule): void {
  printProgress(`counting the requests of ${HOURS} virtual hours`);
  const total = { ours: 0, fewest: 0, ownGrid: 0, unshared: 0 };
  schedule.forEach((intervals, n) => {
    const origin = originOf(`hackernews:${n}`, false);
    const distinct = [...new Set(intervals)];
    const shortest = Math.min(...distinct);
    total.ours += requestsOf(origin, distinct, shortest);
    // If every watch were read at its own ticks, only ticks at the same instant would share a request.
    total.ownGrid += requestsOf(origin, distinct, Infinity);
    total.fewest += ticks(origin, shortest, shortest).length;
    for (const interval of intervals) total.unshared += Math.floor(HORIZON_MS / (interval * 1000));
  });
  const row = (name: string, count: number) => [
    name,
    count.toLocaleString('en'),
    (count / total.fewest).toFixed(3),
  ];
  table(
    ['upstream requests', 'count', 'of the sum'],
    [
      row('sum over distinct searches, each at its shortest interval', total.fewest),
      row('scheduler', total.ours),
      row('each watch at its own times', total.ownGrid),
      row('one request for each watch', total.unshared),
    ],
  );
  target('requests / sum over distinct searches', total.ours / total.fewest, 1.02, 'at most');
}

/** Returns the number of distinct instants at which the search is read. */
function requestsOf(origin: number, intervals: readonly number[], shortest: number): number {
  if (intervals.length === 1) return ticks(origin, intervals[0] ?? 0, shortest).length;
  const instants = new Set<number>();
  for (const interval of intervals) for (const at of ticks(origin, interval, shortest)) instants.add(at);
  return instants.size;
}

function ticks(origin: number, interval: number, shortest: number): number[] {
  const found: number[] = [];
  for (let at = START; ;) {
    at = nextDue(at, interval * 1000, Math.min(shortest, interval) * 1000, origin);
    if (at > START + HORIZON_MS) return found;
    found.push(at);
  }
}

/** Compares searches with one watch and with more watches. No further watch has a shorter interval than the first. */
function requestsByWatchesPerSearch(): void {
  const searches = Array.from({ length: 1_000 }, (_, n) => ({
    origin: originOf(`hackernews:${n}`, false),
    shortest: draw(INTERVALS),
  }));
  const counts = [1, 10, 100, 1_000].map((perSearch) => {
    printProgress(`${perSearch} watches on each of ${searches.length} searches`);
    return searches.reduce((sum, { origin, shortest }) => {
      const slower = INTERVALS.filter((interval) => interval >= shortest);
      const intervals = new Set([shortest, ...Array.from({ length: perSearch - 1 }, () => draw(slower))]);
      return sum + requestsOf(origin, [...intervals], shortest);
    }, 0);
  });
  const [one = 1] = counts;
  table(
    ['watches a search', 'requests', 'to one'],
    counts.map((count, n) => [10 ** n, count.toLocaleString('en'), (count / one).toFixed(3)]),
  );
  target('requests with 1,000 watches a search / with 1', (counts.at(-1) ?? 0) / one, 1.02, 'at most');
}

async function restart(cleanup: Cleanup, schedule: Schedule): Promise<void> {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => database.destroy());
  await fill(database, schedule);
  const upstream = await emptyUpstream(cleanup);
  const env = programEnv(stores, { SOURCE_HACKERNEWS_URL: upstream.url });
  const seconds: number[] = [];
  let residentMb = 0;
  for (const what of ['first start', 'restart']) {
    printProgress(`${what} of polling`);
    const began = performance.now();
    const asked = upstream.next();
    const starting = startProgram('polling', env, cleanup);
    await asked;
    seconds.push((performance.now() - began) / 1000);
    const program = await starting;
    await wait(5_000);
    residentMb = residentOf(program.pid) / 1024 / 1024;
    await program.stop();
  }
  const [{ bytes = 0 } = {}]: { bytes?: number }[] = await database.query(
    `SELECT (pg_total_relation_size('watch_schedule') + pg_total_relation_size('upstream_searches')
       + pg_total_relation_size('schedule_accounts'))::float8 AS bytes`,
  );
  table(
    ['with the schedule in Postgres', ''],
    [
      ['start to first upstream request', `${seconds[0]?.toFixed(2)} s`],
      ['restart to first upstream request', `${seconds[1]?.toFixed(2)} s`],
      ['resident memory of polling', `${residentMb.toFixed(0)} MiB`],
      ['bytes a watch in Postgres, indexes and searches included', Math.round(bytes / WATCHES)],
    ],
  );
  target('restart to first due work, s', seconds[1] ?? Infinity, 5, 'at most');
}

async function fill(database: Database, schedule: Schedule): Promise<void> {
  await database.query(
    `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
     SELECT 'hackernews:' || n, 'hackernews', 'hackernews:0',
       json_build_object('market', 'global', 'query', 'term' || n), now() + random() * interval '1 hour'
     FROM generate_series(0, $1 - 1) AS n`,
    [SEARCHES],
  );
  const searches: { search_key: string; search_number: number }[] = await database.query(
    'SELECT search_key, search_number FROM upstream_searches',
  );
  const numbers = new Map(searches.map((search) => [search.search_key, search.search_number]));
  const accountId = newId();
  const [account]: { account_number: number }[] = await database.query(
    'INSERT INTO schedule_accounts (account_id) VALUES ($1) RETURNING account_number',
    [accountId],
  );
  // The account has many more credits than its checks cost.
  await database.query(
    `INSERT INTO credit_balances (account_id, plan, opened_at, period_start, period_end, allowance, allowance_used,
       balance, turns_at, seq)
     VALUES ($1, 'unlimited', now(), now(), now() + interval '1 month', 1000000000, 0, 1000000000,
       now() + interval '1 month', 0)`,
    [accountId],
  );
  const rows = schedule.flatMap((intervals, n) =>
    intervals.map((interval) => ({ search: numbers.get(`hackernews:${n}`), interval })),
  );
  for (let from = 0; from < rows.length; from += 50_000) {
    const some = rows.slice(from, from + 50_000);
    // Steady state: each watch has been checked, and is due within its interval. Some are late, as after a restart.
    await database.query(
      `INSERT INTO watch_schedule (watch_id, search_number, account_number, interval_seconds,
         baseline_at, covered_until, due_second)
       SELECT id, search, $3, interval_seconds, now() - interval '1 day', now() - interval '1 minute',
         second_of(now() - interval '30 seconds' + random() * interval_seconds * interval '1 second')
       FROM unnest($1::uuid[], $2::int[], $4::int[]) AS w (id, search, interval_seconds)`,
      [
        some.map(() => newId()),
        some.map(({ search }) => search),
        account?.account_number,
        some.map(({ interval }) => interval),
      ],
    );
    printProgress(`${Math.min(rows.length, from + 50_000)} watches written`);
  }
  await database.query(
    `UPDATE upstream_searches s SET next_due_at = w.due
     FROM (SELECT search_number, time_of(min(due_second)) AS due FROM watch_schedule GROUP BY search_number) w
     WHERE w.search_number = s.search_number`,
  );
  await database.query('ANALYZE watch_schedule, upstream_searches, schedule_accounts');
}

/** Starts a simulated Hacker News without any posts. */
async function emptyUpstream(cleanup: Cleanup): Promise<{ url: string; next(): Promise<void> }> {
  let waiting: (() => void)[] = [];
  const server = createServer((_, response) => {
    for (const settle of waiting) settle();
    waiting = [];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ hits: [], nbHits: 0, page: 0, nbPages: 0, hitsPerPage: 1000 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add(async () => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

/** Returns the resident memory of the process, in bytes. */
function residentOf(pid: number): number {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Number(pages) * 4096;
}
