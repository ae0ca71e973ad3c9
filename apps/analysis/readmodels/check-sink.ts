import { fromBinary } from '@bufbuild/protobuf';
import type { JsMsg } from '@nats-io/jetstream';
import { CheckSchema, type Check } from '#contracts';
import type { EventStore } from '#event-store';
import { done, retry, subjectOf, type Outcome } from '#messaging';
import type { Database } from '#postgres';

const RETRY_MS = 500;

/**
 * Returns which of these watches have a row. A watch without a row was purged, or the tables do not contain the
 * decision of its keyword yet. The ids can include ids of keywords, because an event about the keyword itself has the
 * keyword's id as its watch id.
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

/**
 * Returns the outcome of a check whose watch has no row: done if the watch was purged, retry if the tables do not
 * contain the watch yet.
 */
export async function withoutWatch(store: EventStore, check: Check): Promise<Outcome> {
  const subject = subjectOf('KEYWORDS', check.accountId, check.keywordId || check.watchId);
  return (await store.lastSeq('KEYWORDS', subject)) > 0 ? retry(RETRY_MS) : done;
}

/**
 * Writes a batch of CHECKS to ClickHouse, without checks of purged keywords.
 * @param write receives the checks of existing watches; writing the same checks a second time must change nothing
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
