/**
 * Measures how many keywords are created a second, and how many estimates are made a second, through gateway, NATS and
 * the keywords service. Creates are compared with a program that stores a similar keyword without these services.
 * Estimates are compared with a read of a page of one keyword through the gateway.
 * `npm run -s build && node dist/bench/keywords.js`
 */
import { create, toBinary, toJson } from '@bufbuild/protobuf';
import pg from 'pg';
import { Pool } from 'undici';
import { KeywordDecisionSchema, KeywordDefinitionSchema, OpenAccountSchema, WatchSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { COMMANDS, connectBus, subjectOf, type Bus } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';
import { cpuText, cpuTimes, type CpuTimes } from './cpu-time.js';
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
} from './harness.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/keywords.js [--requests 1500] [--rounds 5] [--accounts 50] [--at-once 16]

Measures POST /v1/keywords and POST /v1/keywords/estimate with one search on each of three sources. Creates are compared with
an account lock, one conditional append and similar rows in one transaction, without gateway, command and checks: once with
statements that are planned every time, and once with prepared statements. Estimates are compared with GET /v1/keywords for a
page of one keyword. Takes about a minute.
`);

const REQUESTS = numberOption('requests', 1500);
/** After this many requests, Node has compiled the code, and Postgres has planned the statements. */
const WARM_UP = 400;
const ROUNDS = numberOption('rounds', 5);
const ACCOUNTS = numberOption('accounts', 50);
const AT_ONCE = numberOption('at-once', 16);
const SOURCES = ['hackernews', 'mastodon', 'lemmy'];

/** The number of bodies until now. */
let bodies = 0;

interface Account {
  accountId: string;
  apiKey: string;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const env = programEnv(stores);
  await startProgram('billing', env, cleanup);
  await startProgram('keywords', env, cleanup);
  const { url } = await startProgram('gateway', env, cleanup);
  const bus = await connectBus(stores.natsUrl, 'bench', createLogger('bench', 'silent'));
  cleanup.add(() => bus.close());
  const database = await openDatabase(stores.databaseUrl, 'bench', AT_ONCE);
  cleanup.add(() => database.destroy());
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => openAccount(bus)));
  const pool = new Pool(url, { connections: AT_ONCE });
  cleanup.add(() => pool.destroy());

  const post = (path: string) => async (n: number, among: readonly Account[]) => {
    const body = JSON.stringify(nextBody());
    const headers = { 'x-api-key': of(among, n).apiKey, 'content-type': 'application/json' };
    const answer = await pool.request({ path, method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode >= 400) throw new Error(`${path} answered ${answer.statusCode}`);
  };
  const read = async (n: number, among: readonly Account[]) => {
    const headers = { 'x-api-key': of(among, n).apiKey };
    const answer = await pool.request({ path: '/v1/keywords?limit=1', method: 'GET', headers });
    await answer.body.dump();
    if (answer.statusCode >= 400) throw new Error(`a page answered ${answer.statusCode}`);
  };
  const store = new EventStore(bus);
  const bare = (n: number, among: readonly Account[]) =>
    storeBare(
      (work) => database.transaction((tx) => work((text, values) => tx.query(text, values))),
      store,
      of(among, n).accountId,
      n,
    );
  const plain = plainPool(stores.databaseUrl);
  cleanup.add(() => plain.end());
  const bareUnprepared = (n: number, among: readonly Account[]) =>
    storeBare(transactionsOf(plain), store, of(among, n).accountId, n);
  const estimate = post('/v1/keywords/estimate');
  const make = post('/v1/keywords');
  const one = accounts.slice(0, 1);
  const comparisons: Comparison[] = [
    // Estimates come first: the plain inserts store incomplete keywords, which the API cannot return.
    {
      what: `estimates, ${ACCOUNTS} accounts`,
      ours: estimate,
      baseline: 'page of one keyword',
      baselineWork: read,
    },
    {
      what: `creates, ${ACCOUNTS} accounts`,
      ours: make,
      baseline: 'bare storing',
      baselineWork: bareUnprepared,
      wanted: 0.5,
    },
    {
      what: `creates, ${ACCOUNTS} accounts`,
      ours: make,
      baseline: 'bare storing, prepared',
      baselineWork: bare,
    },
    {
      what: 'creates, one account',
      ours: make,
      baseline: 'bare storing',
      baselineWork: bareUnprepared,
      among: one,
      wanted: 0.3,
    },
    {
      what: 'creates, one account',
      ours: make,
      baseline: 'bare storing, prepared',
      baselineWork: bare,
      among: one,
    },
  ];
  const rows: string[][] = [];
  for (const comparison of comparisons) rows.push(await compare(comparison, accounts, database));
  table(['keywords', 'a second', 'baseline', 'a second', 'ratio', 'wanted'], rows);
});

type Work = (n: number, among: readonly Account[]) => Promise<void>;

interface Comparison {
  what: string;
  ours: Work;
  baseline: string;
  baselineWork: Work;
  /** Default: all accounts. */
  among?: readonly Account[];
  wanted?: number;
}

/**
 * Alternates Earshot and the baseline, so that the load of the machine and the size of the tables are the
 * same for both.
 */
async function compare(
  { what, ours, baseline, baselineWork, among, wanted }: Comparison,
  all: readonly Account[],
  database: Database,
): Promise<string[]> {
  const variants = [ours, baselineWork];
  const rates = variants.map((): number[] => []);
  for (const work of variants) await runsPerSecond(WARM_UP, (n) => work(n, among ?? all));
  // Replaces query plans that were made for empty tables, as autovacuum does once a minute.
  await database.query('ANALYZE');
  const used = variants.map((): CpuTimes => new Map());
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [which, work] of variants.entries()) {
      const before = cpuTimes();
      rates[which]?.push(await runsPerSecond(REQUESTS / ROUNDS, (n) => work(n, among ?? all)));
      for (const [program, seconds] of cpuTimes())
        used[which]?.set(
          program,
          (used[which].get(program) ?? 0) + ((seconds - (before.get(program) ?? 0)) * 1000) / REQUESTS,
        );
    }
  const [ourRates = [], baselineRates = []] = rates;
  const ratio = median(ratios(ourRates, baselineRates));
  printProgress(
    `${what}: ${median(ourRates).toFixed(0)} a second, ${ratio.toFixed(2)} of ${baseline}; load ${load()}; ` +
      `processor ms each: ${used.map((times) => cpuText(new Map(), times)).join(' / ')}`,
  );
  const target = wanted === undefined ? '' : `${wanted}: ${ratio >= wanted ? 'reached' : 'missed'}`;
  return [
    what,
    median(ourRates).toFixed(0),
    baseline,
    median(baselineRates).toFixed(0),
    ratio.toFixed(2),
    target,
  ];
}

function of(accounts: readonly Account[], n: number): Account {
  const account = accounts[n % accounts.length];
  if (!account) throw new Error('no account');
  return account;
}

/** @returns the number of runs per second, with `AT_ONCE` of them at the same time */
async function runsPerSecond(count: number, work: (n: number) => Promise<void>): Promise<number> {
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await work(next++);
    }),
  );
  return (count / (performance.now() - began)) * 1000;
}

async function openAccount(bus: Bus): Promise<Account> {
  const command = create(OpenAccountSchema, {
    commandId: newId(),
    email: `${newId()}@example.org`,
    plan: 'unlimited',
  });
  return new CommandClient(bus).request(COMMANDS.openAccount, command);
}

/** Returns a body with a query that no other body has, because two keywords with the same searches are rare. */
function nextBody() {
  bodies += 1;
  return {
    name: `Acme ${bodies}`,
    refreshIntervalSeconds: 600,
    globalCriteria: { market: 'global', query: `acme ${bodies}` },
    sources: SOURCES.map((source) => ({ source, enabled: true })),
  };
}

/** Creates a plain pg pool, which plans each statement at each run. */
function plainPool(connectionString: string): pg.Pool {
  return new pg.Pool({ connectionString, max: AT_ONCE });
}

/** Runs work in transactions. */
type Transactions = (work: (query: Query) => Promise<void>) => Promise<void>;
type Query = (text: string, values?: unknown[]) => Promise<unknown>;

function transactionsOf(plain: pg.Pool): Transactions {
  return async (work) => {
    const client = await plain.connect();
    try {
      await client.query('START TRANSACTION');
      await work((text, values) => client.query(text, values));
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  };
}

async function storeBare(
  transaction: Transactions,
  store: EventStore,
  accountId: string,
  n: number,
): Promise<void> {
  const keywordId = newId();
  const definition = create(KeywordDefinitionSchema, { name: `Acme ${n}`, refreshIntervalSeconds: 600 });
  const watches = SOURCES.map((source) =>
    create(WatchSchema, { watchId: newId(), source, criteriaHash: newId(), intervalSeconds: 600 }),
  );
  const decision = create(KeywordDecisionSchema, {
    commandId: newId(),
    accountId,
    subjectId: keywordId,
    decidedAt: new Date().toISOString(),
    events: [{ event: { case: 'keywordCreated', value: { definition, watches } } }],
  });
  // The consumer of the keywords service may write the rows first, so the statements ignore conflicts.
  await transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
    const subject = subjectOf('KEYWORDS', accountId, keywordId);
    await store.append(subject, toBinary(KeywordDecisionSchema, decision), 0, decision.commandId);
    await query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, $3, 'active', $4, now(), now(), 1) ON CONFLICT DO NOTHING`,
      [keywordId, accountId, definition.name, JSON.stringify(toJson(KeywordDefinitionSchema, definition))],
    );
    for (const watch of watches)
      await query(
        `INSERT INTO watches (watch_id, account_id, keyword_id, source, criteria, criteria_hash, interval_seconds,
           webhook_mode, analysis, backfill, is_active, created_at, updated_at)
         VALUES ($1, $2, $3, $4, '{}', $5, 600, 'all', true, false, true, now(), now()) ON CONFLICT DO NOTHING`,
        [watch.watchId, accountId, keywordId, watch.source, watch.criteriaHash],
      );
  });
}
