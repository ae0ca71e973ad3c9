/**
 * Measures how many digests a second are assembled and stored as facts, and the memory of the process.
 * `npm run -s build && node dist/bench/digests.js`
 */
import type { JsMsg } from '@nats-io/jetstream';
import { openClickHouse } from '#clickhouse';
import { EventStore } from '#event-store';
import { newId } from '#kernel';
import { connectBus, runDurable } from '#messaging';
import { openDatabase } from '#postgres';
import { applyBatch, consumerOf } from '#projections';
import { createLogger } from '#telemetry';
import type { AnalysisWork } from '../apps/analysis/analyses/analysis-work.js';
import { DigestAssembly } from '../apps/analysis/digests/digest-assembly.js';
import { DigestsLoop } from '../apps/analysis/digests/digests.loop.js';
import { WeeklyFigures } from '../apps/analysis/digests/weekly-figures.js';
import { digestItemsProjection } from '../apps/analysis/projections/digest-items.projection.js';
import { SettledEvents } from '../apps/analysis/settled.js';
import { benchStores, helpWanted, numberOption, runBench, table } from './harness.js';

helpWanted(`
Usage: node dist/bench/digests.js [--digests 10000] [--items 10]

Daily digests that are due at the same time, one for each keyword, assembled by one process on embedded stores and stored in
JetStream. About one minute.
`);

const DIGESTS = numberOption('digests', 10_000);
const ITEMS = numberOption('items', 10);
const MIB = 1024 * 1024;

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const log = createLogger('bench', 'error');
  const bus = await connectBus(stores.natsUrl, 'bench', log);
  cleanup.add(() => bus.close());
  const database = await openDatabase(stores.databaseUrl, 'bench', 8);
  cleanup.add(() => database.destroy());
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'bench');
  cleanup.add(() => clickhouse.close());
  const handle = (batch: readonly JsMsg[]) => applyBatch(database, digestItemsProjection, batch);
  const running = await runDurable(bus, { ...consumerOf(digestItemsProjection), handle }, log);
  cleanup.add(() => running.stop());
  const ids = Array.from({ length: DIGESTS }, newId);
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     SELECT k, $2, 'Acme', 'active', '{}', now(), now(), 1 FROM unnest($1::uuid[]) AS k`,
    [ids, newId()],
  );
  await database.query(
    `INSERT INTO digest_items (keyword_id, seq, event_id, occurred_at, item)
     SELECT k, -n, gen_random_uuid(), now(), jsonb_build_object('bucket', null, 'storyId', null, 'own', repeat('word ', 60),
       'item', jsonb_build_object('mentionId', gen_random_uuid(), 'source', 'reddit', 'kind', 'post', 'url', null,
         'title', 'A title', 'excerpt', repeat('word ', 60), 'vip', false, 'labels', '[]'::jsonb))
     FROM unnest($1::uuid[]) AS k CROSS JOIN generate_series(1, $2::int) AS n`,
    [ids, ITEMS],
  );
  await database.query(
    `INSERT INTO digest_turns (keyword_id, channel_id, mode, account_id, timezone, period_from, after_seq, due_at)
     SELECT keyword_id, gen_random_uuid(), 'daily', account_id, 'UTC', now() - interval '1 day', -1000000, now()
     FROM keywords`,
  );
  const store = new EventStore(bus);
  const figures = new WeeklyFigures(clickhouse, '');
  const assembly = new DigestAssembly(database, store, {} as AnalysisWork, figures, log);
  const loop = new DigestsLoop(database, new SettledEvents(bus), assembly, log);
  const began = performance.now();
  while (await loop.round());
  const seconds = (performance.now() - began) / 1000;
  const { state } = await bus.jsm.streams.info('DIGESTS');
  if (state.messages !== DIGESTS) throw new Error(`${state.messages} of ${DIGESTS} digests are stored`);
  table(
    ['digests', 'items of each', 'digests a second', 'memory, MiB'],
    [[DIGESTS, ITEMS, Math.round(DIGESTS / seconds), Math.round(process.memoryUsage().rss / MIB)]],
  );
});
