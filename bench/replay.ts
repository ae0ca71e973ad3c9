/**
 * Measures how long it takes to read the hundred events of one watch, among 20 thousand to 2 million events. The events
 * are read through the gateway, and directly from ClickHouse. Three tables of different sizes take turns in the rounds.
 * `npm run -s build && node dist/bench/replay.js`
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { Pool } from 'undici';
import { openClickHouse, selectRows, type ClickHouseClient } from '#clickhouse';
import { openDatabase, type Database } from '#postgres';
import { MentionReads } from '../apps/gateway/reads/mention-reads.js';
import { PurgedKeywords } from '../apps/gateway/reads/purged-keywords.js';
import { openBenchAccount } from './account.js';
import {
  benchStores,
  helpWanted,
  load,
  median,
  numberOption,
  quantile,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';
import { seeded } from './matching-data.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/replay.js [--rounds 5] [--reads 100] [--largest 2000000]

Measures GET /v1/hackernews/watches/{id}/events for watches with 100 events each, among 20k, 200k and 2M events. The events
are written into ClickHouse's table directly; they do not pass through the stream. Takes about two minutes.
`);

const ROUNDS = numberOption('rounds', 5);
const READS = numberOption('reads', 100);
const LARGEST = numberOption('largest', 2_000_000);
const SIZES = [LARGEST / 100, LARGEST / 10, LARGEST];
const EVENTS_OF_A_WATCH = 100;
const DAYS = 30;
const MERGES_WITHIN_MS = 30_000;

/** One size: a separate database in ClickHouse and a separate gateway process. */
interface Installation {
  size: number;
  watches: number;
  gateway: Pool;
  bare: MentionReads;
  throughGateway: number[];
  bareReads: number[];
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => database.destroy());
  const account = await openBenchAccount(database);
  const since = new Date(Date.now() - (DAYS + 1) * 86_400_000);
  const installations: Installation[] = [];
  for (const size of SIZES) {
    const url = await createClickHouseDatabase(stores.clickhouseUrl, `events_${size}`);
    const clickhouse = await openClickHouse(url, 'bench');
    cleanup.add(() => clickhouse.close());
    const watches = size / EVENTS_OF_A_WATCH;
    await fill(clickhouse, size, watches, account.accountId);
    await addWatches(database, size, watches, account.accountId);
    const env = programEnv(stores, { CLICKHOUSE_URL: url });
    const gateway = await startProgram('gateway', env, cleanup);
    const pool = new Pool(gateway.url, { connections: 1 });
    installations.push({
      ...{ size, watches, gateway: pool, bare: new MentionReads(clickhouse, new PurgedKeywords(database)) },
      ...{ throughGateway: [], bareReads: [] },
    });
  }
  await measure(installations, account, since);
  report(installations);
});

async function createClickHouseDatabase(serverUrl: string, name: string): Promise<string> {
  const client = createClient({ url: serverUrl });
  await client.command({ query: `CREATE DATABASE ${name}` });
  await client.close();
  return new URL(`/${name}`, serverUrl).href;
}

/**
 * Writes events in batches, in the order of time. Each batch contains events of many watches, as in production, so that
 * a watch's events are in every part of the table. The server generates the rows; ids come from MD5, bodies from a
 * hash.
 */
async function fill(
  clickhouse: ClickHouseClient,
  size: number,
  watches: number,
  accountId: string,
): Promise<void> {
  const batch = Math.min(100_000, size / 4);
  for (let from = 0; from < size; from += batch) {
    await clickhouse.command({
      query: `INSERT INTO events (watch_id, occurred_at, event_id, account_id, push, envelope)
        SELECT ${uuidOf(`concat('watch ${size} ', toString(number % {watches: UInt32}))`)},
          now64(3, 'UTC') - toIntervalSecond(intDiv(({size: UInt32} - number) * ${DAYS * 86_400}, {size: UInt32})),
          ${uuidOf(`concat('event ', toString(number))`)}, {accountId: UUID}, true,
          concat('{"id":"', toString(number), '","item":{"text":"', ${bodyOf('number')}, '"}}')
        FROM numbers({from: UInt32}, {batch: UInt32})`,
      query_params: { size, watches, from, batch, accountId },
    });
    if ((from / batch) % 4 === 3)
      printProgress(`${(from + batch).toLocaleString('en')} of ${size.toLocaleString('en')} events written`);
  }
  const end = Date.now() + MERGES_WITHIN_MS;
  while ((await merging(clickhouse)) > 0 && Date.now() < end) await wait(250);
}

async function merging(clickhouse: ClickHouseClient): Promise<number> {
  const rows = await selectRows<{ merges: string }>(
    clickhouse,
    'SELECT count() AS merges FROM system.merges',
  );
  return Number(rows[0]?.merges ?? 0);
}

/** Returns SQL for the id that `watchIdOf` derives from the same text: MD5 in the form of a UUIDv5. */
function uuidOf(text: string): string {
  const hex = `lower(hex(MD5(${text})))`;
  const part = (at: number, length: number) => `substring(${hex}, ${at}, ${length})`;
  return `toUUID(concat(${part(1, 8)}, '-', ${part(9, 4)}, '-5', ${part(14, 3)}, '-a', ${part(18, 3)}, '-', ${part(21, 12)}))`;
}

/** Returns about 900 characters that do not compress well. */
function bodyOf(number: string): string {
  return `concat(${Array.from({ length: 14 }, (_, n) => `hex(SHA256(concat('${n} ', toString(${number}))))`).join(', ')})`;
}

function watchIdOf(size: number, n: number): string {
  const hex = createHash('md5').update(`watch ${size} ${n}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

async function addWatches(
  database: Database,
  size: number,
  watches: number,
  accountId: string,
): Promise<void> {
  await database.query(
    `INSERT INTO watches (watch_id, account_id, source, criteria, criteria_hash, interval_seconds, webhook_mode,
       analysis, backfill, is_active, created_at, updated_at)
     SELECT unnest($2::uuid[]), $1, 'hackernews', '{}', '', 60, 'all', false, false, true, now(), now()`,
    [accountId, Array.from({ length: watches }, (_, n) => watchIdOf(size, n))],
  );
}

async function measure(
  installations: readonly Installation[],
  { accountId, apiKey }: { accountId: string; apiKey: string },
  since: Date,
): Promise<void> {
  const random = seeded(42);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const one of installations) {
      for (const n of pick(random, one.watches, READS)) {
        const watchId = watchIdOf(one.size, n);
        const gateway = await timed(() => readThroughGateway(one.gateway, watchId, apiKey, since));
        const bare = await timed(() => readBare(one.bare, accountId, watchId, since));
        if (round === 0) continue;
        one.throughGateway.push(gateway);
        one.bareReads.push(bare);
      }
    }
    printProgress(`${round === 0 ? 'warmed up' : `round ${round}`}, load ${load()}`);
  }
}

async function readThroughGateway(
  gateway: Pool,
  watchId: string,
  apiKey: string,
  since: Date,
): Promise<void> {
  const { statusCode, body } = await gateway.request({
    method: 'GET',
    path: `/v1/hackernews/watches/${watchId}/events?limit=100&since=${since.toISOString()}`,
    headers: { 'x-api-key': apiKey },
  });
  const text = await body.text();
  const found = statusCode === 200 ? (JSON.parse(text) as { data: unknown[] }).data.length : -1;
  if (found !== EVENTS_OF_A_WATCH) throw new Error(`${statusCode}: ${text.slice(0, 300)}`);
}

async function readBare(reads: MentionReads, accountId: string, watchId: string, since: Date): Promise<void> {
  const rows = await reads.events(accountId, [watchId], {
    ...{ since, until: undefined, order: 'asc', limit: 100, after: undefined },
  });
  if (rows.length !== EVENTS_OF_A_WATCH) throw new Error(`${rows.length} events of ${watchId}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Returns distinct random numbers below the limit. */
function pick(random: () => number, below: number, count: number): Set<number> {
  const picked = new Set<number>();
  while (picked.size < Math.min(count, below)) picked.add(Math.floor(random() * below));
  return picked;
}

function report(installations: readonly Installation[]): void {
  console.log(
    `Reads of the ${EVENTS_OF_A_WATCH} events of one watch, ${ROUNDS} interleaved rounds of ${READS} different watches, one read at a time.`,
  );
  console.log(
    `The events were written into the table, not through the stream. Milliseconds (load ${load()}).\n`,
  );
  table(
    ['events in all', 'gateway p50', 'gateway p95', 'bare p50', 'bare p95'],
    installations.map(({ size, throughGateway, bareReads }) => [
      size.toLocaleString('en'),
      ...[throughGateway, bareReads].flatMap((times) => [
        median(times).toFixed(1),
        quantile(times, 0.95).toFixed(1),
      ]),
    ]),
  );
  const [smallest, , largest] = installations;
  if (!smallest || !largest) return;
  console.log('');
  const growth = (of: (one: Installation) => number[]) =>
    quantile(of(largest), 0.95) / quantile(of(smallest), 0.95);
  target(
    'p95 through the gateway, largest to smallest',
    growth((one) => one.throughGateway),
    1.5,
    'at most',
  );
  target(
    'p95 of the bare read, largest to smallest',
    growth((one) => one.bareReads),
    1.5,
    'at most',
  );
}
