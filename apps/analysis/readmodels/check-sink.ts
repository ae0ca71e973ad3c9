import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { CheckSchema, type Check } from '#contracts';
import type { EventStore } from '#event-store';
import { done, retry, subjectOf, type Outcome } from '#messaging';
import type { Database } from '#postgres';

const NOT_THERE_YET_MS = 500;

/**
 * Which of the watches have a row: one without was purged, or its keyword's decision has not reached the tables. The
 * events of a keyword itself stand under its own id.
 */
export async function knownWatches(
  database: Database,
  watchIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows: { watch_id: string }[] = await database.query(
    `SELECT watch_id FROM watches WHERE watch_id = ANY($1)
     UNION ALL SELECT keyword_id FROM keywords WHERE keyword_id = ANY($1)`,
    [[...new Set(watchIds)]],
  );
  return new Set(rows.map((row) => row.watch_id));
}

/** A check whose watch has no row is skipped when the watch was purged, and waits when the watch does not exist yet. */
export async function withoutWatch(store: EventStore, check: Check): Promise<Outcome> {
  const subject = subjectOf('KEYWORDS', check.accountId, check.keywordId || check.watchId);
  return (await store.lastSeq('KEYWORDS', subject)) > 0 ? retry(NOT_THERE_YET_MS) : done;
}

/**
 * Writes a batch of CHECKS into ClickHouse; what a purged keyword left in the stream's pipe does not come back.
 * @param write gets the checks of watches that exist; writing them twice must change nothing
 */
export async function writeChecks(
  batch: readonly Pick<JsMsg, 'data'>[],
  database: Database,
  store: EventStore,
  write: (checks: readonly Check[]) => Promise<void>,
): Promise<Outcome[]> {
  const checks = batch.map(({ data }) => fromBinary(CheckSchema, data));
  const known = await knownWatches(
    database,
    checks.map(({ watchId }) => watchId),
  );
  await write(checks.filter(({ watchId }) => known.has(watchId)));
  return Promise.all(checks.map((check) => (known.has(check.watchId) ? done : withoutWatch(store, check))));
}
