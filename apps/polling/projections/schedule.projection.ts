import { fromBinary, type JsonValue } from '@bufbuild/protobuf';
import {
  KeywordDecisionSchema,
  type KeywordDecision,
  type KeywordEvent,
  type Watch,
  type WatchChanged,
} from '#contracts';
import { criteriaJson } from '#criteria';
import { together, type Tx } from '#postgres';
import type { Projection } from '#projections';
import { isRecorded } from '#telemetry';
import { lockSearches } from '../due/due-work.js';
import { addAccounts } from './schedule-accounts.js';

/** The name of the projection below. A purge also uses it, to delete the projection's positions. */
export const SCHEDULE = { name: 'schedule-v1' };

/**
 * Columns of `upstream_searches` that polling itself writes: lane, claim, due time, and what the connector remembers.
 */
const UPSTREAM_STATE = ['lane', 'next_due_at', 'leased_until', 'claim', 'state', 'state_at', 'failures'];

/** Updates the due work (`watch_schedule`, `upstream_searches`, `schedule_accounts`) from KEYWORDS. */
export function scheduleProjection(lanesOf: (source: string) => number): Projection<TracedDecision> {
  return {
    ...SCHEDULE,
    stream: 'KEYWORDS',
    rebuild: {
      tables: ['watch_schedule', 'upstream_searches', 'schedule_accounts'],
      untouched: ['seen_items'],
      kept: [
        {
          table: 'watch_schedule',
          key: 'watch_id',
          columns: ['baseline_at', 'covered_until', 'due_second', 'check_seq', 'failed_at'],
        },
        {
          table: 'upstream_searches',
          key: 'search_key',
          columns: UPSTREAM_STATE,
        },
      ],
      async forget(tx, subjects) {
        const purged: { id: string }[] = await tx.query('SELECT keyword_id AS id FROM purged_keywords');
        const ids = [
          ...purged.map(({ id }) => id),
          ...subjects.map((subject) => subject.split('.').at(-1) ?? ''),
        ];
        for (const id of ids) await unschedule(tx, 'keyword_id', id);
      },
    },
    read: ({ data, cause }) => ({
      decision: fromBinary(KeywordDecisionSchema, data),
      // Stored only if the trace is recorded, and kept until the first check, which belongs to the same trace.
      traceparent: cause !== undefined && isRecorded(cause) ? cause : null,
    }),
    async apply(tx, messages) {
      const causes = messages.map(({ content }) => content);
      // Schedules the new watches of all messages together, because one statement per message would be slower.
      await schedule(tx, causes.flatMap(createdBy), lanesOf);
      for (const cause of causes)
        for (const event of cause.decision.events) await applyEvent(tx, cause, event, lanesOf);
    },
  };
}

async function applyEvent(
  tx: Tx,
  cause: TracedDecision,
  { event }: KeywordEvent,
  lanesOf: (source: string) => number,
): Promise<void> {
  const { subjectId } = cause.decision;
  switch (event.case) {
    case 'keywordChanged': {
      const { watches, retiredWatchIds, resting: isPaused } = event.value;
      for (const watchId of retiredWatchIds) await unschedule(tx, 'watch_id', watchId);
      return schedule(tx, scheduledBy(cause, watches, subjectId, isPaused), lanesOf);
    }
    case 'watchChanged':
      return change(tx, 'watch_id', subjectId, event.value);
    case 'keywordPaused':
      if (event.value.stopped) await change(tx, 'keyword_id', subjectId, { isActive: false });
      return;
    case 'keywordResumed':
      if (event.value.running) await change(tx, 'keyword_id', subjectId, { isActive: true });
      return;
    case 'watchPaused':
      if (event.value.stopped) await change(tx, 'watch_id', subjectId, { isActive: false });
      return;
    case 'watchResumed':
      if (event.value.running) await change(tx, 'watch_id', subjectId, { isActive: true });
      return;
    case 'keywordRetired':
      return unschedule(tx, 'keyword_id', subjectId);
    case 'watchRetired':
      return unschedule(tx, 'watch_id', subjectId);
    case 'feedRotated':
      return;
    // `apply` has already scheduled these watches.
    case 'keywordCreated':
    case 'watchCreated':
    case undefined:
      return;
  }
}

/** The columns of a scheduled watch, and the data that its search needs. */
interface ScheduledWatch {
  search_key: string;
  source: string;
  criteria: JsonValue;
  watch_id: string;
  account_id: string;
  keyword_id: string | null;
  search_id: string | null;
  interval_seconds: number;
  backfill: boolean;
  disabled: boolean;
  stopped: boolean;
  traceparent: string | null;
}

/** Columns whose values need no quotes in the text of an array. */
type PlainColumn =
  | 'watch_id'
  | 'account_id'
  | 'keyword_id'
  | 'search_id'
  | 'interval_seconds'
  | 'backfill'
  | 'disabled'
  | 'stopped';

/** A decision, and the `traceparent` of its message; null if that trace is not recorded. */
interface TracedDecision {
  decision: KeywordDecision;
  traceparent: string | null;
}

function createdBy(cause: TracedDecision): ScheduledWatch[] {
  const { events, subjectId } = cause.decision;
  return events.flatMap(({ event }) => {
    if (event.case === 'keywordCreated') return scheduledBy(cause, event.value.watches, subjectId);
    if (event.case === 'watchCreated' && event.value.watch)
      return scheduledBy(cause, [event.value.watch], null);
    return [];
  });
}

function scheduledBy(
  { decision: { accountId }, traceparent }: TracedDecision,
  watches: readonly Watch[],
  keywordId: string | null,
  isPaused = false,
): ScheduledWatch[] {
  return watches.map((watch) => ({
    search_key: `${watch.source}:${watch.criteriaHash}`,
    source: watch.source,
    criteria: watch.criteria ? criteriaJson(watch.criteria) : {},
    watch_id: watch.watchId,
    account_id: accountId,
    keyword_id: keywordId,
    search_id: watch.searchId || null,
    interval_seconds: watch.intervalSeconds,
    backfill: watch.backfill,
    disabled: watch.disabled,
    stopped: watch.disabled || isPaused,
    traceparent,
  }));
}

/**
 * Changes the interval of watches, or pauses or resumes them. The next checks of running watches stay at the old times,
 * unless the new interval ends earlier. Those of paused watches always stay: an interval that a watch had only during a
 * pause must not cause a check, because no quote contains it.
 */
async function change(
  tx: Tx,
  column: 'keyword_id' | 'watch_id',
  id: string,
  { intervalSeconds, isActive }: Pick<WatchChanged, 'intervalSeconds' | 'isActive'>,
): Promise<void> {
  const { watchIds } = await lockWatches(tx, column, id);
  await tx.query(
    `UPDATE watch_schedule SET
       interval_seconds = COALESCE($2, interval_seconds),
       stopped = CASE WHEN disabled OR COALESCE(NOT $3::boolean, stopped) THEN true END,
       due_second = CASE WHEN disabled OR COALESCE(NOT $3::boolean, stopped) THEN due_second
         ELSE LEAST(due_second, second_of(now() + make_interval(secs => COALESCE($2, interval_seconds)))) END
     WHERE watch_id = ANY($1)`,
    [watchIds, intervalSeconds ?? null, isActive ?? null],
  );
  await bringForward(tx, watchIds);
}

/** Inserts watches with their searches, and updates watches that exist. A search that exists becomes due now. */
async function schedule(
  tx: Tx,
  watches: readonly ScheduledWatch[],
  lanesOf: (source: string) => number,
): Promise<void> {
  if (watches.length === 0) return;
  const distinct = new Map(watches.map((watch) => [watch.search_key, watch]));
  // Inserted in the order of the keys, in which `lockSearches` locks searches: this prevents deadlocks.
  const searches = [...distinct.values()].sort((a, b) => (a.search_key < b.search_key ? -1 : 1));
  // Postgres reads arrays in less time than records in JSON.
  const column = <K extends keyof ScheduledWatch>(name: K) => watches.map((watch) => watch[name]);
  // The text of an array. For ids, numbers and flags it needs no quotes, so pg does not have to examine each value.
  const text = (name: PlainColumn) => `{${watches.map((watch) => watch[name] ?? 'NULL').join()}}`;
  const accountsAdded = addAccounts(tx, column('account_id'));
  const watchesInserted = tx.query(
    `WITH searches AS (
       INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
       SELECT n.search_key, n.source, n.source || ':' || (abs(hashtextextended(n.search_key, 0)) % n.lanes), n.criteria, now()
       FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::int[]) AS n (search_key, source, criteria, lanes)
       ON CONFLICT (search_key) DO UPDATE SET next_due_at = LEAST(upstream_searches.next_due_at, now()),
         criteria = excluded.criteria
       RETURNING search_key, search_number
     )
     INSERT INTO watch_schedule AS w (watch_id, search_number, account_number, keyword_id, search_id, interval_seconds,
       backfill, disabled, stopped, due_second, traceparent)
     SELECT n.watch_id, s.search_number, a.account_number, n.keyword_id, n.search_id, n.interval_seconds,
       NULLIF(n.backfill, false), NULLIF(n.disabled, false), NULLIF(n.stopped, false), (SELECT second_of(now())), n.traceparent
     FROM unnest($5::uuid[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[], $10::int[], $11::boolean[], $12::boolean[],
       $13::boolean[], $14::text[]) AS n (watch_id, search_key, account_id, keyword_id, search_id, interval_seconds,
       backfill, disabled, stopped, traceparent)
       LEFT JOIN searches s USING (search_key) LEFT JOIN schedule_accounts a USING (account_id)
     ON CONFLICT (watch_id) DO UPDATE SET
       search_id = excluded.search_id, interval_seconds = excluded.interval_seconds,
       disabled = excluded.disabled, stopped = excluded.stopped,
       due_second = CASE WHEN excluded.stopped THEN w.due_second
         ELSE LEAST(w.due_second, second_of(now() + make_interval(secs => excluded.interval_seconds))) END`,
    [
      searches.map(({ search_key }) => search_key),
      searches.map(({ source }) => source),
      searches.map(({ criteria }) => JSON.stringify(criteria)),
      searches.map(({ source }) => lanesOf(source)),
      text('watch_id'),
      column('search_key'),
      text('account_id'),
      text('keyword_id'),
      text('search_id'),
      text('interval_seconds'),
      text('backfill'),
      text('disabled'),
      text('stopped'),
      column('traceparent'),
    ],
  );
  await together([accountsAdded, watchesInserted]);
}

/** Watches whose searches are locked: all watches of a keyword, or one watch. */
interface LockedWatches {
  watchIds: string[];
  searchNumbers: number[];
}

/**
 * Locks the searches of the watches. Every transaction that writes watches and their search locks the search first,
 * like the recorder of checks. No index contains the keyword, so only this statement looks for the keyword's watches;
 * the later statements use the ids. No watch is missed: only this projection adds watches, and it has locked its
 * position in the messages of the keyword.
 */
async function lockWatches(tx: Tx, column: 'keyword_id' | 'watch_id', id: string): Promise<LockedWatches> {
  const rows: { watch_id: string; search_number: number; search_key: string }[] = await tx.query(
    `SELECT w.watch_id, w.search_number, s.search_key FROM watch_schedule w JOIN upstream_searches s USING (search_number)
     WHERE w.${column} = $1`,
    [id],
  );
  await lockSearches(tx, [...new Set(rows.map((row) => row.search_key))]);
  return {
    watchIds: rows.map((row) => row.watch_id),
    searchNumbers: [...new Set(rows.map((row) => row.search_number))],
  };
}

async function bringForward(tx: Tx, watchIds: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE upstream_searches s SET next_due_at = LEAST(s.next_due_at, w.next_due_at)
     FROM (SELECT search_number, time_of(min(due_second)) AS next_due_at FROM watch_schedule
           WHERE watch_id = ANY($1) AND stopped IS NULL GROUP BY search_number) AS w
     WHERE s.search_number = w.search_number`,
    [watchIds],
  );
}

/** Deletes watches from the due work, with their seen items, and with the searches that have no other watch. */
export async function unschedule(tx: Tx, column: 'keyword_id' | 'watch_id', id: string): Promise<void> {
  const { watchIds, searchNumbers } = await lockWatches(tx, column, id);
  if (watchIds.length === 0) return;
  await tx.query('DELETE FROM seen_items WHERE watch_id = ANY($1)', [watchIds]);
  await tx.query('DELETE FROM watch_schedule WHERE watch_id = ANY($1)', [watchIds]);
  await tx.query(
    `DELETE FROM upstream_searches s WHERE search_number = ANY($1)
       AND NOT EXISTS (SELECT 1 FROM watch_schedule w WHERE w.search_number = s.search_number)`,
    [searchNumbers],
  );
}
