import { AlertEvaluation } from '../../apps/analysis/alerts/alert-evaluation.js';
import type { AlertDecisions } from '../../apps/analysis/alerts/alert-decisions.js';
import { BIN_MS, binOf } from '../../apps/analysis/alerts/windows.js';
import { newId } from '#kernel';
import { openDatabase, type Database } from '#postgres';
import { createLogger } from '#telemetry';
import { openBenchAccount } from '../account.js';
import { benchStores, type Cleanup } from '../harness.js';

const DAY_MS = 86_400_000;
/** The number of keywords that the alerts loop of the analysis service claims together. */
const TURNS = 100;
const HISTORY_DAYS = 21;

/** The mean duration of the evaluation of a keyword, in ms. */
export interface EvaluationCost {
  /** All new mentions were published just now. */
  fresh: number;
  /** One of the new mentions was published a day ago. */
  late: number;
}

/**
 * Measures the evaluation of keywords that have a spike alert and about 10 mentions an hour. Like the alerts loop, it
 * evaluates one keyword after another.
 */
export async function evaluationCost(cleanup: Cleanup, keywords: number): Promise<EvaluationCost> {
  const stores = await benchStores(cleanup);
  const database = await openDatabase(stores.databaseUrl, 'bench', 4);
  cleanup.add(() => database.destroy());
  const now = Date.now();
  const ids = await fill(database, keywords, now);
  const cost = async (changedFrom: number) => {
    // A new `AlertEvaluation` has no cached levels, so each measurement begins with an empty cache.
    const decisions = { record: async () => undefined } as unknown as AlertDecisions;
    const evaluation = new AlertEvaluation(database, decisions, createLogger('bench', 'error'));
    const began = performance.now();
    for (let n = 0; n < ids.length; n += TURNS) {
      const turns = ids.slice(n, n + TURNS).map((keywordId) => ({ keywordId, changedFrom, changes: 1 }));
      const evaluated = await evaluation.evaluateTurns(turns, now);
      if (evaluated.length < turns.length) throw new Error('a keyword could not be evaluated');
    }
    return (performance.now() - began) / ids.length;
  };
  await cost(binOf(now));
  return { fresh: await cost(binOf(now)), late: await cost(binOf(now - DAY_MS) + BIN_MS) };
}

async function fill(database: Database, count: number, now: number): Promise<string[]> {
  const { accountId } = await openBenchAccount(database);
  const ids = Array.from({ length: count }, () => newId());
  await database.query(
    `INSERT INTO keywords (keyword_id, account_id, name, state, definition, created_at, updated_at, version)
     SELECT k, $2, 'Acme', 'active', '{"spikeAlert": "low"}', now(), now(), 1 FROM unnest($1::uuid[]) AS k`,
    [ids, accountId],
  );
  // Here a watch has the id of its search.
  await database.query(
    `INSERT INTO watches (watch_id, account_id, keyword_id, search_id, source, criteria, criteria_hash, interval_seconds,
       webhook_mode, analysis, backfill, is_active, created_at, updated_at)
     SELECT k, $2, k, k, 'reddit', '{}', 'x', 60, 'all', true, false, true, now(), now() FROM unnest($1::uuid[]) AS k`,
    [ids, accountId],
  );
  const from = binOf(now) - HISTORY_DAYS * DAY_MS;
  await database.query(
    `INSERT INTO search_coverage (keyword_id, search_id, covered_from, covered_to)
     SELECT k, k, $2, $3 FROM unnest($1::uuid[]) AS k`,
    [ids, new Date(from), new Date(now)],
  );
  await database.query('SELECT setseed(0.5)');
  // The mean is 0.83 mentions in five minutes, or 10 an hour.
  await database.query(
    `INSERT INTO mention_counts (keyword_id, bin, search_id, total, negative)
     SELECT k, bin, k, 1 + (random() < 0.4)::int + (random() < 0.07)::int, 0
     FROM unnest($1::uuid[]) AS k, generate_series($2::timestamptz, $3::timestamptz, '5 minutes') AS bin
     WHERE random() < 0.565 OR bin = $3`,
    [ids, new Date(from), new Date(binOf(now))],
  );
  await database.query('ANALYZE mention_counts, search_coverage, keywords, watches');
  return ids;
}
