/**
 * Measures the rows per second that projections write into Postgres and that sinks write into ClickHouse. The baseline
 * is a plain loop that writes the same rows in batches of the same size.
 * `npm run -s build && node dist/bench/projections.js`
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@clickhouse/client';
import type { JsMsg } from '@nats-io/jetstream';
import pg from 'pg';
import { openClickHouse, type ClickHouseClient } from '#clickhouse';
import { CriteriaSchema, KeywordDecisionSchema } from '#contracts';
import { criteriaHash } from '#criteria';
import { isoOf, newId } from '#kernel';
import { subjectOf } from '#messaging';
import { openDatabase, type Database } from '#postgres';
import { applyBatch, type Projection } from '#projections';
import { EventsIndexSink } from '../apps/analysis/readmodels/events-index.sink.js';
import { MentionsSink } from '../apps/analysis/readmodels/mentions.sink.js';
import { keywordsProjection } from '../apps/keywords/projections/keywords.projection.js';
import { scheduleProjection } from '../apps/polling/projections/schedule.projection.js';
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
} from './harness.js';
import { MASTER_KEY } from './program.js';
import { makeEvents, makeScene } from './webhooks/scene.js';

helpWanted(`
Usage: node dist/bench/projections.js [--keywords 4000] [--events 20000] [--rounds 6]

Messages go to the handlers of the projections \`keywords\` and \`schedule\` (Postgres, 200 messages a batch), and of the sinks of
mentions and of the events' index (ClickHouse, 2,000 a batch, two concurrent batches, as their consumers do). The baseline for each
is a loop that has the same rows ready and writes them with pg or ClickHouse's client: one INSERT for each table and batch. In
Postgres, each batch is one transaction. Takes about a minute.
`);

const KEYWORDS = numberOption('keywords', 4000);
const EVENTS = numberOption('events', 20_000);
const ROUNDS = numberOption('rounds', 6);
const POSTGRES_BATCH = 200;
const CLICKHOUSE_BATCH = 2000;
const SOURCES = ['hackernews', 'mastodon', 'lemmy'] as const;

type SinkOn = (client: ClickHouseClient) => { write(batch: readonly JsMsg[]): Promise<unknown> };

/** Two ways to write the same rows. */
interface Comparison {
  what: string;
  rows: number;
  empty(): Promise<unknown>;
  ours(): Promise<void>;
  plain(): Promise<void>;
  /**
   * Returns a summary of the tables: counts, in ClickHouse also a hash. It must be the same after `ours` and `plain`.
   */
  content(): Promise<string>;
}

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 4);
  cleanup.add(() => database.destroy());
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'bench');
  cleanup.add(() => clickhouse.close());
  const plainPostgres = new pg.Pool({ connectionString: stores.databaseUrl, max: 1 });
  plainPostgres.on('error', (error) => printProgress(error.message));
  cleanup.add(() => plainPostgres.end());
  const plainClickHouse = createClient({ url: stores.clickhouseUrl });
  cleanup.add(() => plainClickHouse.close());

  const decisions = makeDecisions();
  const inPostgres = (projection: Projection, ...tables: string[]) =>
    comparisonInPostgres(database, plainPostgres, projection, decisions, tables);
  const inClickHouse = (name: 'mentions' | 'events', sinkOn: SinkOn) =>
    comparisonInClickHouse(clickhouse, plainClickHouse, name, events, sinkOn);
  const results = [
    await compare(await inPostgres(keywordsProjection, 'keywords', 'watches', 'quoted_periods')),
    await compare(
      await inPostgres(
        scheduleProjection(() => 1),
        'upstream_searches',
        'schedule_accounts',
        'watch_schedule',
      ),
    ),
  ];
  // This comes last, because the comparisons in Postgres empty the table of watches, which the sinks read.
  const scene = await makeScene(
    database,
    MASTER_KEY,
    'http://127.0.0.1',
    Array.from({ length: 100 }, (_, n) => `/${n}`),
  );
  const events = makeEvents(scene, EVENTS).map(messageOf);
  results.push(
    await compare(await inClickHouse('mentions', (client) => new MentionsSink(client, database))),
    await compare(await inClickHouse('events', (client) => new EventsIndexSink(client, database))),
  );
  table(
    ['rows', 'a second', 'plain loop', 'ratio', 'µs a row', 'plain loop', 'ratio'],
    results.map(({ cells }) => cells),
  );
  for (const { what, ratio } of results) target(`${what}, ours / plain loop`, ratio, 0.8, 'at least');
});

/** Alternates Earshot and the plain loop. The first round warms up. */
async function compare({ what, rows, empty, ours, plain, content }: Comparison) {
  const rates = { ours: [] as number[], plain: [] as number[] };
  const micros = { ours: [] as number[], plain: [] as number[] };
  const contents = { ours: '', plain: '' };
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [name, write] of Object.entries({ ours, plain }) as [
      'ours' | 'plain',
      () => Promise<void>,
    ][]) {
      await empty();
      const [cpu, began] = [processorSeconds(), performance.now()];
      await write();
      const seconds = (performance.now() - began) / 1000;
      contents[name] = await content();
      if (round === 0) continue;
      rates[name].push(rows / seconds);
      micros[name].push(((processorSeconds() - cpu) * 1e6) / rows);
    }
  if (contents.ours !== contents.plain)
    throw new Error(`${what}: the plain loop wrote other rows: ${contents.ours} and ${contents.plain}`);
  const ratio = median(ratios(rates.ours, rates.plain));
  printProgress(`${what}: ${ratio.toFixed(2)} of the plain loop; load ${load()}`);
  const cpuRatio = median(ratios(micros.plain, micros.ours));
  const cells = [
    what,
    median(rates.ours).toFixed(0),
    median(rates.plain).toFixed(0),
    ratio.toFixed(2),
    median(micros.ours).toFixed(0),
    median(micros.plain).toFixed(0),
    cpuRatio.toFixed(2),
  ];
  return { what, ratio, cells };
}

/** Returns the processor time of the bench and its stores. */
function processorSeconds(): number {
  return [...cpuTimes().values()].reduce((sum, seconds) => sum + seconds, 0);
}

async function comparisonInPostgres(
  database: Database,
  plain: pg.Pool,
  projection: Projection,
  messages: readonly JsMsg[],
  tables: readonly string[],
): Promise<Comparison> {
  const all = [...tables, 'projection_positions'];
  const empty = () => database.query(`TRUNCATE ${all.join(', ')} CASCADE`);
  const ours = async () => {
    for (const batch of batches(messages, POSTGRES_BATCH)) await applyBatch(database, projection, batch);
  };
  await empty();
  await ours();
  const rows = new Map<string, unknown[]>();
  for (const name of all) {
    const read: { row: unknown }[] = await database.query(`SELECT to_jsonb(t) AS row FROM ${name} t`);
    rows.set(
      name,
      read.map(({ row }) => row),
    );
  }
  const count = [...rows.values()].reduce((sum, some) => sum + some.length, 0);
  return {
    what: `Postgres: ${tables.join(', ')}`,
    rows: count,
    empty,
    ours,
    async plain() {
      const parts = Math.ceil(messages.length / POSTGRES_BATCH);
      const client = await plain.connect();
      try {
        for (let part = 0; part < parts; part += 1) {
          await client.query('START TRANSACTION');
          for (const [name, some] of rows) {
            const size = Math.ceil(some.length / parts);
            await client.query(
              `INSERT INTO ${name} SELECT * FROM jsonb_populate_recordset(NULL::${name}, $1)`,
              [JSON.stringify(some.slice(part * size, (part + 1) * size))],
            );
          }
          await client.query('COMMIT');
        }
      } finally {
        client.release();
      }
    },
    async content() {
      const counted: string[] = [];
      for (const name of all) {
        const [row]: { text: string }[] = await database.query(`SELECT count(*)::text AS text FROM ${name}`);
        counted.push(`${name} ${row?.text}`);
      }
      return counted.join(', ');
    },
  };
}

async function comparisonInClickHouse(
  client: ClickHouseClient,
  plain: ClickHouseClient,
  name: 'mentions' | 'events',
  messages: readonly JsMsg[],
  sinkOn: SinkOn,
): Promise<Comparison> {
  const rows: unknown[] = [];
  const keeping = { insert: async ({ values }: { values: unknown[] }) => rows.push(...values) };
  // Runs as many batches at the same time as the consumers of the sinks (`batchesAtOnce`).
  const run = async (sink: ReturnType<SinkOn>) => {
    const open = batches(messages, CLICKHOUSE_BATCH);
    const work = async () => {
      for (const batch of open) await sink.write(batch);
    };
    await Promise.all([work(), work()]);
  };
  await run(sinkOn(keeping as unknown as ClickHouseClient));
  return {
    what: `ClickHouse: ${name}`,
    rows: rows.length,
    empty: () => client.command({ query: `TRUNCATE TABLE ${name}` }),
    ours: () => run(sinkOn(client)),
    async plain() {
      for (const batch of batches(rows, CLICKHOUSE_BATCH))
        await plain.insert({
          table: name,
          values: batch,
          format: 'JSONEachRow',
          clickhouse_settings: { date_time_input_format: 'best_effort' },
        });
    },
    async content() {
      const read = await client.query({
        query: `SELECT count() AS rows, sum(cityHash64(event_id, occurred_at, watch_id)) AS hash FROM ${name}`,
        format: 'JSONEachRow',
      });
      return JSON.stringify(await read.json());
    },
  };
}

/** Returns decisions that create keywords with one search on each of three sources. */
function makeDecisions(): JsMsg[] {
  const accountId = newId();
  return Array.from({ length: KEYWORDS }, (_, n) => {
    const subjectId = newId();
    const criteria = create(CriteriaSchema, { market: 'global', query: `acme ${n}` });
    const definition = {
      name: `Acme ${n}`,
      refreshIntervalSeconds: 600,
      webhookMode: 'all',
      globalCriteria: criteria,
      sources: SOURCES.map((source) => ({ source, enabled: true })),
    };
    const watches = SOURCES.map((source) => ({
      watchId: newId(),
      source,
      criteria,
      criteriaHash: criteriaHash(source, criteria),
      intervalSeconds: 600,
      creditsPerCheck: 1,
      priceBookVersion: 'bench',
    }));
    const decision = create(KeywordDecisionSchema, {
      commandId: subjectId,
      accountId,
      subjectId,
      decidedAt: isoOf(Date.now()),
      events: [{ event: { case: 'keywordCreated', value: { definition, watches } } }],
    });
    const subject = subjectOf('KEYWORDS', accountId, subjectId);
    return messageOf({ subject, data: toBinary(KeywordDecisionSchema, decision) }, n);
  });
}

/** Returns the message in the form in which a consumer gets it, as if it were the first message of its subject. */
function messageOf({ subject, data }: { subject: string; data: Uint8Array }, n: number): JsMsg {
  return { subject, data, seq: n + 1, headers: { get: () => '0' } } as unknown as JsMsg;
}

function* batches<T>(values: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < values.length; from += size) yield values.slice(from, from + size);
}
