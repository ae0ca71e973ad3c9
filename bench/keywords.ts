/**
 * Keyword creates and estimates a second, through gateway, NATS and the keywords service, against the bare storing of
 * the same keyword and the gateway's cheapest answer. `npm run -s build && node dist/bench/keywords.js`
 */
import { create, toBinary, toJson } from '@bufbuild/protobuf';
import { Pool } from 'undici';
import { KeywordDecisionSchema, KeywordDefinitionSchema, OpenAccountSchema, WatchSchema } from '#contracts';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { COMMANDS, connectBus, subjectOf, type Bus } from '#messaging';
import { lockAccount, openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';
import { benchStores, helpWanted, numberOption, runBench, say, table } from './harness.js';
import { programEnv, startProgram } from './program.js';

helpWanted(`
Usage: node dist/bench/keywords.js [--requests 1500] [--accounts 50] [--at-once 16]

POST /v1/keywords and POST /v1/keywords/estimate with one search on each of three sources. Baselines: an account lock,
one conditional append and the same rows in one transaction, without gateway, command and checks; and GET /v1/keywords
of a page of one. About a minute.
`);

const REQUESTS = numberOption('requests', 1500);
const ACCOUNTS = numberOption('accounts', 50);
const AT_ONCE = numberOption('at-once', 16);
const SOURCES = ['hackernews', 'mastodon', 'lemmy'];

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
    const body = JSON.stringify(bodyOf(n));
    const headers = { 'x-api-key': of(among, n).apiKey, 'content-type': 'application/json' };
    const answer = await pool.request({ path, method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode >= 400) throw new Error(`${path} answered ${answer.statusCode}`);
  };
  const read = async (n: number, among: readonly Account[]) => {
    const headers = { 'x-api-key': of(among, n).apiKey };
    const answer = await pool.request({ path: '/v1/keywords?limit=1', method: 'GET', headers });
    await answer.body.dump();
  };
  const store = new EventStore(bus);
  const bare = (n: number, among: readonly Account[]) =>
    storeBare(database, store, of(among, n).accountId, n);
  const one = accounts.slice(0, 1);
  const rate = async (
    what: string,
    work: (n: number, among: readonly Account[]) => Promise<void>,
    among = accounts,
  ) => {
    await everyOne(REQUESTS / 10, (n) => work(n, among));
    const perSecond = await everyOne(REQUESTS, (n) => work(n, among));
    say(`${what}: ${perSecond.toFixed(0)} a second`);
    return perSecond;
  };
  const reads = await rate('page of one keyword', read);
  const estimates = await rate('estimates', post('/v1/keywords/estimate'));
  const stored = await rate('bare storing', bare);
  const creates = await rate('creates', post('/v1/keywords'));
  const storedOfOne = await rate('bare storing, one account', bare, one);
  const createsOfOne = await rate('creates, one account', post('/v1/keywords'), one);
  table(
    ['keywords', 'a second', 'baseline', 'a second', 'ratio'],
    [
      row(`creates, ${ACCOUNTS} accounts`, creates, 'bare storing', stored),
      row('creates, one account', createsOfOne, 'bare storing', storedOfOne),
      row(`estimates, ${ACCOUNTS} accounts`, estimates, 'page of one keyword', reads),
    ],
  );
});

function row(what: string, ours: number, baseline: string, its: number): string[] {
  return [what, ours.toFixed(0), baseline, its.toFixed(0), (ours / its).toFixed(2)];
}

function of(accounts: readonly Account[], n: number): Account {
  const account = accounts[n % accounts.length];
  if (!account) throw new Error('no account');
  return account;
}

/** @returns how many a second, `AT_ONCE` at any time */
async function everyOne(count: number, work: (n: number) => Promise<void>): Promise<number> {
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

function bodyOf(n: number) {
  return {
    name: `Acme ${n}`,
    refreshIntervalSeconds: 600,
    globalCriteria: { market: 'global', query: `acme ${n}` },
    sources: SOURCES.map((source) => ({ source, enabled: true })),
  };
}

async function storeBare(database: Database, store: EventStore, accountId: string, n: number): Promise<void> {
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
  // The service's own consumer may be quicker.
  await database.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const subject = subjectOf('KEYWORDS', accountId, keywordId);
    await store.append(subject, toBinary(KeywordDecisionSchema, decision), 0, decision.commandId);
    await tx.query(
      `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
       VALUES ($1, $2, $3, 'active', $4, now(), now(), 1) ON CONFLICT DO NOTHING`,
      [keywordId, accountId, definition.name, JSON.stringify(toJson(KeywordDefinitionSchema, definition))],
    );
    for (const watch of watches)
      await tx.query(
        `INSERT INTO watches (watch_id, account_id, keyword_id, source, criteria, criteria_hash, interval_seconds,
           webhook_mode, analysis, backfill, is_active, created_at, updated_at)
         VALUES ($1, $2, $3, $4, '{}', $5, 600, 'all', true, false, true, now(), now()) ON CONFLICT DO NOTHING`,
        [watch.watchId, accountId, keywordId, watch.source, watch.criteriaHash],
      );
  });
}
