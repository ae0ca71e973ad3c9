import { fromBinary } from '@bufbuild/protobuf';
import {
  KeywordDecisionSchema,
  type KeywordDecision,
  type KeywordEvent,
  type Watch,
  type WatchChanged,
} from '#contracts';
import { criteriaJson } from '#criteria';
import type { Tx } from '#postgres';
import type { Projection } from '#projections';
import { currentTraceparent, isRecorded } from '#telemetry';
import { lockSearches } from '../due/due-work.js';

/** The projection below, by which others of this service ask how far it is. */
export const SCHEDULE = { name: 'schedule-v1' };

/** What polling itself writes: whose turn it is, and what the connector remembers. */
const UPSTREAM_STATE = ['lane', 'next_due_at', 'leased_until', 'claim', 'state', 'state_at', 'failures'];

/** Keeps the due work (`watch_schedule`, `upstream_searches`) up to date with KEYWORDS. */
export function scheduleProjection(lanesOf: (source: string) => number): Projection {
  return {
    ...SCHEDULE,
    stream: 'KEYWORDS',
    rebuild: {
      tables: ['watch_schedule', 'upstream_searches'],
      untouched: ['seen_items'],
      kept: [
        {
          table: 'watch_schedule',
          key: 'watch_id',
          columns: [
            'baseline_at',
            'covered_until',
            'next_due_at',
            'check_seq',
            'last_checked_at',
            'last_status',
          ],
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
    async apply(tx, message) {
      const decision = fromBinary(KeywordDecisionSchema, message.data);
      for (const event of decision.events) await applyEvent(tx, decision, event, lanesOf);
    },
  };
}

async function applyEvent(
  tx: Tx,
  decision: KeywordDecision,
  { event }: KeywordEvent,
  lanesOf: (source: string) => number,
): Promise<void> {
  const { subjectId } = decision;
  switch (event.case) {
    case 'keywordCreated':
      return scheduleAll(tx, decision, event.value.watches, lanesOf);
    case 'keywordChanged':
      for (const watchId of event.value.retiredWatchIds) await unschedule(tx, 'watch_id', watchId);
      return scheduleAll(tx, decision, event.value.watches, lanesOf, event.value.resting);
    case 'watchCreated':
      if (event.value.watch)
        await schedule(tx, decision, event.value.watch, null, lanesOf(event.value.watch.source));
      return;
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
    case undefined:
      return;
  }
}

/** In the order of the keys, as everybody locks searches. */
async function scheduleAll(
  tx: Tx,
  decision: KeywordDecision,
  watches: readonly Watch[],
  lanesOf: (source: string) => number,
  resting = false,
): Promise<void> {
  for (const watch of watches.toSorted((a, b) => (searchKeyOf(a) < searchKeyOf(b) ? -1 : 1)))
    await schedule(tx, decision, watch, decision.subjectId, lanesOf(watch.source), resting);
}

/** What goes on waits no longer than its interval says from now on; what begins again is due when it was. */
async function change(
  tx: Tx,
  column: 'keyword_id' | 'watch_id',
  id: string,
  { intervalSeconds, isActive }: Pick<WatchChanged, 'intervalSeconds' | 'isActive'>,
): Promise<void> {
  await lockSearchesOf(tx, column, id);
  await tx.query(
    `UPDATE watch_schedule SET
       interval_seconds = COALESCE($2, interval_seconds),
       is_active = COALESCE($3, is_active) AND NOT disabled,
       next_due_at = LEAST(next_due_at, now() + make_interval(secs => COALESCE($2, interval_seconds)))
     WHERE ${column} = $1`,
    [id, intervalSeconds ?? null, isActive ?? null],
  );
  await bringForward(tx, column, id);
}

function searchKeyOf({ source, criteriaHash }: Watch): string {
  return `${source}:${criteriaHash}`;
}

async function schedule(
  tx: Tx,
  { accountId }: KeywordDecision,
  watch: Watch,
  keywordId: string | null,
  lanes: number,
  resting = false,
): Promise<void> {
  const searchKey = searchKeyOf(watch);
  const cause = currentTraceparent();
  await tx.query(
    `INSERT INTO upstream_searches (search_key, source, lane, criteria, next_due_at)
     VALUES ($1, $2::text, $2 || ':' || (abs(hashtextextended($1, 0)) % $3), $4, now())
     ON CONFLICT (search_key) DO UPDATE SET next_due_at = LEAST(upstream_searches.next_due_at, now())`,
    [searchKey, watch.source, lanes, JSON.stringify(watch.criteria ? criteriaJson(watch.criteria) : {})],
  );
  await tx.query(
    `INSERT INTO watch_schedule AS w (watch_id, search_key, account_id, keyword_id, search_id, interval_seconds,
       backfill, disabled, is_active, next_due_at, traceparent)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, NOT $8 AND NOT $9, now(), $10)
     ON CONFLICT (watch_id) DO UPDATE SET
       search_id = excluded.search_id, interval_seconds = excluded.interval_seconds,
       disabled = excluded.disabled, is_active = excluded.is_active,
       next_due_at = LEAST(w.next_due_at, now() + make_interval(secs => excluded.interval_seconds))`,
    [
      watch.watchId,
      searchKey,
      accountId,
      keywordId,
      watch.searchId || null,
      watch.intervalSeconds,
      watch.backfill,
      watch.disabled,
      resting,
      isRecorded(cause) ? cause : null,
    ],
  );
}

/** Whoever writes watches and their search locks the search first, as the recorder of checks does. */
async function lockSearchesOf(tx: Tx, column: 'keyword_id' | 'watch_id', id: string): Promise<void> {
  const rows: { search_key: string }[] = await tx.query(
    `SELECT DISTINCT search_key FROM watch_schedule WHERE ${column} = $1`,
    [id],
  );
  await lockSearches(
    tx,
    rows.map((row) => row.search_key),
  );
}

async function bringForward(tx: Tx, column: 'keyword_id' | 'watch_id', id: string): Promise<void> {
  await tx.query(
    `UPDATE upstream_searches s SET next_due_at = LEAST(s.next_due_at, w.next_due_at)
     FROM (SELECT search_key, min(next_due_at) AS next_due_at FROM watch_schedule
           WHERE ${column} = $1 AND is_active GROUP BY search_key) AS w
     WHERE s.search_key = w.search_key`,
    [id],
  );
}

/** Takes watches out of the due work, and searches with them that nobody watches any more. */
export async function unschedule(tx: Tx, column: 'keyword_id' | 'watch_id', id: string): Promise<void> {
  await lockSearchesOf(tx, column, id);
  const gone: { search_key: string; watch_id: string }[] = await tx.query(
    `SELECT search_key, watch_id FROM watch_schedule WHERE ${column} = $1`,
    [id],
  );
  await tx.query('DELETE FROM seen_items WHERE watch_id = ANY($1)', [gone.map((row) => row.watch_id)]);
  await tx.query(`DELETE FROM watch_schedule WHERE ${column} = $1`, [id]);
  await tx.query(
    `DELETE FROM upstream_searches s WHERE search_key = ANY($1)
       AND NOT EXISTS (SELECT 1 FROM watch_schedule w WHERE w.search_key = s.search_key)`,
    [gone.map((row) => row.search_key)],
  );
}
