/**
 * Measures how long it takes to read a page of mentions when there are ten million. The gateway reads the first page
 * and the two hundredth. For comparison, ClickHouse's client alone reads the rows of the first page.
 * `npm run -s build && node dist/bench/mentions.js`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { openClickHouse, selectRows, type ClickHouseClient } from '#clickhouse';
import { newId } from '#kernel';
import { openDatabase } from '#postgres';
import { openBenchAccount } from './account.js';
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
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/mentions.js [--mentions 10000000] [--rounds 5] [--reads 60] [--page 200]

Measures GET /v1/mentions with a limit of 50, for the last 24 hours and for 30 days. The account has --mentions mentions in
30 days. They are written directly into ClickHouse's table, in batches in order of time. Takes about three minutes.
`);

const MENTIONS = numberOption('mentions', 10_000_000);
const ROUNDS = numberOption('rounds', 5);
const READS = numberOption('reads', 60);
const DEEP_PAGE = numberOption('page', 200);
const BATCH = 500_000;
const DAYS = 30;
const PAGE = 50;
const MERGES_WITHIN_MS = 60_000;
const KEYWORD_ID = newId();
const WATCH_ID = newId();

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 2);
  cleanup.add(() => database.destroy());
  const { accountId, apiKey } = await openBenchAccount(database);
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'bench');
  cleanup.add(() => clickhouse.close());
  await fill(clickhouse, accountId);
  const gateway = await startProgram('gateway', programEnv(stores), cleanup);
  const pool = new Pool(gateway.url, { connections: 1 });
  const get = (path: string) => getJson(pool, path, apiKey);
  for (const [name, window] of [
    ['24 hours', undefined],
    ['30 days', new Date(Date.now() - (DAYS + 1) * 86_400_000)],
  ] as const)
    await measure(name, window, get, clickhouse, accountId);
  await pool.close();
});

type Get = (path: string) => Promise<{ data: unknown[]; nextCursor?: string }>;

async function measure(
  name: string,
  window: Date | undefined,
  get: Get,
  clickhouse: ClickHouseClient,
  accountId: string,
) {
  const first = `/v1/mentions?limit=${PAGE}${window ? `&since=${window.toISOString()}` : ''}`;
  const deep = await deepPage(get, first);
  // The default window of the API moves with the clock. ClickHouse caches the results of conditions, so the bare read
  // must move its window too: otherwise it would have less work.
  const since = () => window ?? new Date(Date.now() - 86_400_000);
  const times = { gateway: [] as number[], bare: [] as number[], deep: [] as number[] };
  const medians = { gateway: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const own = { gateway: [] as number[], bare: [] as number[], deep: [] as number[] };
    for (let n = 0; n < READS; n += 1) {
      own.bare.push(await timed(() => bare(clickhouse, accountId, since())));
      own.gateway.push(await timed(() => get(first)));
      own.deep.push(await timed(() => get(deep)));
    }
    medians.gateway.push(median(own.gateway));
    medians.bare.push(median(own.bare));
    for (const key of ['gateway', 'bare', 'deep'] as const) times[key].push(...own[key]);
    printProgress(`${name}: round ${round + 1} of ${ROUNDS}`);
  }
  table(
    [`${PAGE} of ${MENTIONS.toLocaleString('en')} mentions, ${name}, ms`, 'p50', 'p95'],
    [
      ['ClickHouse alone', ...figures(times.bare)],
      ['gateway, page 1', ...figures(times.gateway)],
      [`gateway, page ${DEEP_PAGE}`, ...figures(times.deep)],
    ],
  );
  target(
    `${name}: gateway / ClickHouse alone, p50`,
    median(ratios(medians.gateway, medians.bare)),
    2,
    'at most',
  );
  const depth = quantile(times.deep, 0.95) / quantile(times.gateway, 0.95);
  target(`${name}: page ${DEEP_PAGE} / page 1, p95`, depth, 1.5, 'at most');
}

/** Returns the path of the deep page, found by following cursors. */
async function deepPage(get: Get, first: string): Promise<string> {
  let path = first;
  for (let page = 1; page < DEEP_PAGE; page += 1) {
    const { data, nextCursor } = await get(path);
    if (data.length !== PAGE || nextCursor === undefined) throw new Error(`page ${page} is not full`);
    path = `${first}&cursor=${nextCursor}`;
  }
  return path;
}

/** Reads the rows of the first page with ClickHouse's own client. */
async function bare(clickhouse: ClickHouseClient, accountId: string, since: Date): Promise<void> {
  const rows = await selectRows(
    clickhouse,
    `SELECT * FROM mentions WHERE account_id = {accountId: UUID} AND occurred_at >= {since: DateTime64(3, 'UTC')}
       AND dropped_reason = '' AND NOT has(labels, 'hidden')
     ORDER BY occurred_at DESC, event_id DESC LIMIT ${PAGE}`,
    { accountId, since: since.toISOString().replace('T', ' ').replace('Z', '') },
  );
  if (rows.length !== PAGE) throw new Error(`ClickHouse gave ${rows.length} rows`);
}

async function getJson(pool: Pool, path: string, apiKey: string) {
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { 'x-api-key': apiKey } });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path} was answered ${statusCode}: ${text}`);
  return JSON.parse(text) as { data: unknown[]; nextCursor?: string };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Writes mentions in batches, in the order of time. The server generates the rows. */
async function fill(clickhouse: ClickHouseClient, accountId: string): Promise<void> {
  for (let from = 0; from < MENTIONS; from += BATCH) {
    const batch = Math.min(BATCH, MENTIONS - from);
    await clickhouse.command({
      query: `INSERT INTO mentions
        (account_id, occurred_at, event_id, keyword_id, watch_id, search_id, check_id, source, type, kind, item_id, url,
         title, text, author, lang, matches, matched_terms, match_mode, media, verdicts, likes, replies)
        SELECT {accountId: UUID},
          now64(3, 'UTC') - toIntervalMillisecond(intDiv(({mentions: UInt64} - number) * ${DAYS * 86_400_000}, {mentions: UInt64})),
          generateUUIDv4(number), {keywordId: UUID}, {watchId: UUID}, {keywordId: UUID}, generateUUIDv4(number + 1),
          ['hackernews', 'reddit', 'bluesky', 'rss'][number % 4 + 1], 'post.created', 'post',
          toString(number), concat('https://example.org/posts/', toString(number)),
          concat('Post ', toString(number), ' about acme'),
          concat('All about acme: ', hex(MD5(toString(number))), ' ', hex(MD5(toString(number + 1))), repeat(' and more of it', 5)),
          concat('author', toString(number % 5000)), 'en',
          '[{"term":"acme","field":"text","start":10,"end":14}]', ['acme'], 'word', '[]', '[]',
          number % 100, number % 10
        FROM numbers({from: UInt64}, {batch: UInt64})`,
      query_params: { accountId, mentions: MENTIONS, from, batch, keywordId: KEYWORD_ID, watchId: WATCH_ID },
    });
    if ((from / BATCH) % 4 === 3) printProgress(`${(from + batch).toLocaleString('en')} mentions written`);
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

function figures(times: readonly number[]): string[] {
  return [median(times).toFixed(1), quantile(times, 0.95).toFixed(1)];
}
