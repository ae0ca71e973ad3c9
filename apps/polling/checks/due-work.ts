import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { CriteriaSchema, type Criteria, type MatchMode, type SourceId } from '#contracts';
import { matchModeOf } from '#criteria';
import type { Database, Tx } from '#postgres';

/** A watch whose check is due. Times in ms since the epoch. */
export interface DueWatch {
  watchId: string;
  searchKey: string;
  accountId: string;
  keywordId: string;
  searchId: string;
  intervalSeconds: number;
  backfill: boolean;
  baselineAt: number | undefined;
  coveredUntil: number | undefined;
  /** When the check was due. */
  tick: number;
  checkSeq: number;
}

/** An upstream search with the watches that wait for it. */
export interface DueSearch {
  searchKey: string;
  source: SourceId;
  criteria: Criteria;
  match: MatchMode;
  state: Record<string, unknown>;
  stateAt: number | undefined;
  failures: number;
  /** The shortest interval of all its watches, due or not. */
  shortestSeconds: number;
  watches: DueWatch[];
}

interface SearchRow {
  search_key: string;
  source: SourceId;
  criteria: JsonValue;
  state: Record<string, unknown>;
  state_at: Date | null;
  failures: number;
  shortest_seconds: number | null;
}

interface WatchRow {
  watch_id: string;
  search_key: string;
  account_id: string;
  keyword_id: string | null;
  search_id: string | null;
  interval_seconds: number;
  backfill: boolean;
  baseline_at: Date | null;
  covered_until: Date | null;
  next_due_at: Date;
  check_seq: number;
}

/** Longer than any read may take; after it another replica may take the search up. */
export const SEARCH_LEASE_SECONDS = 600;

/**
 * Takes due searches of a lane, the longest due first, and holds them until they are recorded or released.
 * The list of keys is made once: as `IN (SELECT … LIMIT …)` Postgres may run it for every row, and then no limit holds.
 * @param withState what their connectors remember, which can be much, is wanted too
 */
export async function claimDue(
  database: Database | Tx,
  lane: string,
  limit: number,
  withState = true,
): Promise<DueSearch[]> {
  const [rows]: [SearchRow[]] = await database.query(
    `UPDATE upstream_searches SET leased_until = now() + make_interval(secs => $3)
     WHERE search_key = ANY (ARRAY(SELECT search_key FROM upstream_searches
       WHERE lane = $1 AND next_due_at <= now() AND leased_until < now()
       ORDER BY next_due_at LIMIT $2 FOR UPDATE SKIP LOCKED))
     RETURNING search_key, source, criteria, state_at, failures,
       CASE WHEN $4 THEN state ELSE '{}' END AS state,
       (SELECT min(w.interval_seconds) FROM watch_schedule w
        WHERE w.search_key = upstream_searches.search_key AND w.is_active) AS shortest_seconds`,
    [lane, limit, SEARCH_LEASE_SECONDS, withState],
  );
  if (rows.length === 0) return [];
  const searches = new Map(rows.map((row) => [row.search_key, searchOf(row)]));
  const watches: WatchRow[] = await database.query(
    'SELECT * FROM watch_schedule WHERE search_key = ANY($1) AND is_active AND next_due_at <= now()',
    [[...searches.keys()]],
  );
  for (const row of watches) searches.get(row.search_key)?.watches.push(watchOf(row));
  const dueSince = ({ watches }: DueSearch) => Math.min(...watches.map(({ tick }) => tick));
  return [...searches.values()].sort((a, b) => (dueSince(a) < dueSince(b) ? -1 : 1));
}

/** The lane has a new holder: what the one before had under way is due again. */
export async function releaseLane(database: Database, lane: string): Promise<void> {
  await database.query(`UPDATE upstream_searches SET leased_until = 'epoch' WHERE lane = $1`, [lane]);
}

/** Gives searches back unread; their watches stay due. */
export async function releaseSearches(database: Database, searchKeys: readonly string[]): Promise<void> {
  await database.query(`UPDATE upstream_searches SET leased_until = 'epoch' WHERE search_key = ANY($1)`, [
    searchKeys,
  ]);
}

/**
 * Locks searches until the transaction ends. A statement that waits for a row's lock goes on with the row as it is
 * then, but with everything else as it was before: an instant worked out from the watches would lack the one that
 * was scheduled meanwhile, and it would never be polled. So the lock comes first, in a statement of its own, and
 * ahead of the watches' rows wherever both are written; in the order of the keys, so that nobody waits in a circle.
 */
export async function lockSearches(tx: Tx, searchKeys: readonly string[]): Promise<void> {
  await tx.query(
    'SELECT 1 FROM upstream_searches WHERE search_key = ANY($1) ORDER BY search_key FOR UPDATE',
    [searchKeys],
  );
}

/** Sets searches whose watches are not due (paused, or gone) to the next instant one is. */
export async function settleIdle(database: Database, searchKeys: readonly string[]): Promise<void> {
  if (searchKeys.length === 0) return;
  await database.transaction(async (tx) => {
    await lockSearches(tx, searchKeys);
    await settle(tx, searchKeys);
  });
}

/**
 * Makes watches due again after so many seconds, unchecked. Their searches stay with whoever has claimed them; given
 * back, these find that nothing is due and are settled.
 */
export async function postpone(
  database: Database,
  watches: readonly DueWatch[],
  seconds: number,
): Promise<void> {
  if (watches.length === 0) return;
  await database.transaction(async (tx) => {
    await lockSearches(tx, [...new Set(watches.map(({ searchKey }) => searchKey))]);
    await tx.query(
      `UPDATE watch_schedule SET next_due_at = now() + make_interval(secs => $2)
       WHERE watch_id = ANY($1) AND next_due_at <= now()`,
      [watches.map(({ watchId }) => watchId), seconds],
    );
  });
}

/** Gives searches, which the transaction has locked, back: due when the next of their watches is. */
export async function settle(tx: Tx, searchKeys: readonly string[]): Promise<void> {
  await tx.query(
    `UPDATE upstream_searches s SET leased_until = 'epoch', next_due_at = COALESCE(
       (SELECT min(w.next_due_at) FROM watch_schedule w WHERE w.search_key = s.search_key AND w.is_active), 'infinity')
     WHERE search_key = ANY($1)`,
    [searchKeys],
  );
}

/** Age of the search that has been due the longest, in seconds, for each source; 0 where none is. */
export async function lateness(database: Database): Promise<{ source: string; seconds: number }[]> {
  return database.query(
    `SELECT source, GREATEST(0, extract(epoch FROM now() - min(next_due_at)))::float8 AS seconds
     FROM upstream_searches WHERE next_due_at < 'infinity' GROUP BY source`,
  );
}

function searchOf(row: SearchRow): DueSearch {
  const criteria = fromJson(CriteriaSchema, row.criteria);
  return {
    searchKey: row.search_key,
    source: row.source,
    criteria,
    match: matchModeOf(criteria),
    state: row.state,
    stateAt: row.state_at?.getTime(),
    failures: row.failures,
    // Null: none of its watches is active, so that nothing is checked.
    shortestSeconds: row.shortest_seconds ?? 0,
    watches: [],
  };
}

function watchOf(row: WatchRow): DueWatch {
  return {
    watchId: row.watch_id,
    searchKey: row.search_key,
    accountId: row.account_id,
    keywordId: row.keyword_id ?? '',
    searchId: row.search_id ?? '',
    intervalSeconds: row.interval_seconds,
    backfill: row.backfill,
    baselineAt: row.baseline_at?.getTime(),
    coveredUntil: row.covered_until?.getTime(),
    tick: row.next_due_at.getTime(),
    checkSeq: Number(row.check_seq),
  };
}
