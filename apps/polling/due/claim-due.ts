import type { JsonValue } from '@bufbuild/protobuf';
import type { SourceId } from '#contracts';
import { matchModeOf, storedCriteria } from '#criteria';
import { newId } from '#kernel';
import type { Database, Tx } from '#postgres';
import { SEARCH_LEASE_SECONDS, type DueSearch, type DueWatch } from './due-work.js';

/**
 * Claims due searches of a lane, and returns them, the longest due first. A claim lasts until the check is recorded,
 * the search is released, or the claim expires. The subquery is an array, so that it runs once: with `IN (SELECT …
 * LIMIT …)` Postgres can run it for every row, and then the limit does not apply.
 * @param claim id of the new claim
 * @param withState whether to read the connectors' state of the searches; this state can be large
 */
export async function claimDue(
  database: Database | Tx,
  lane: string,
  limit: number,
  { claim = newId(), withState = true } = {},
): Promise<DueSearch[]> {
  // Uses one transaction, because a search that is claimed without its watches would not be read.
  return database.transaction(async (tx) => {
    const [rows]: [SearchRow[]] = await tx.query(
      `UPDATE upstream_searches SET leased_until = now() + make_interval(secs => $3), claim = $5
       WHERE search_key = ANY (ARRAY(SELECT search_key FROM upstream_searches
         WHERE lane = $1 AND next_due_at <= now() AND (leased_until IS NULL OR leased_until < now())
         ORDER BY next_due_at LIMIT $2 FOR UPDATE SKIP LOCKED))
       RETURNING search_key, search_number, source, criteria, state_at, failures,
         CASE WHEN $4 THEN state END AS state,
         (SELECT min(w.interval_seconds) FROM watch_schedule w
          WHERE w.search_number = upstream_searches.search_number AND w.stopped IS NULL) AS shortest_seconds`,
      [lane, limit, SEARCH_LEASE_SECONDS, withState, claim],
    );
    if (rows.length === 0) return [];
    const searches = new Map(rows.map((row) => [row.search_number, searchOf(row, claim)]));
    // A separate statement reads the watches, so it sees what was recorded before the searches were locked.
    const watches: WatchRow[] = await tx.query(
      `SELECT w.watch_id, w.search_number, a.account_id, w.keyword_id, w.search_id, w.interval_seconds, w.backfill,
         w.baseline_at, w.covered_until, time_of(w.due_second) AS next_due_at, w.check_seq, w.traceparent
       FROM watch_schedule w JOIN schedule_accounts a ON a.account_number = w.account_number
       WHERE w.search_number = ANY($1) AND w.stopped IS NULL AND time_of(w.due_second) <= now()`,
      [[...searches.keys()]],
    );
    const dueSince = new Map<DueSearch, number>();
    for (const row of watches) {
      const search = searches.get(row.search_number);
      if (!search) continue;
      const watch = watchOf(row, search.searchKey);
      search.watches.push(watch);
      dueSince.set(search, Math.min(dueSince.get(search) ?? Infinity, watch.tick));
    }
    const sinceOf = (search: DueSearch) => dueSince.get(search) ?? Infinity;
    return [...searches.values()].sort((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1));
  });
}

interface SearchRow {
  search_key: string;
  search_number: number;
  source: SourceId;
  criteria: JsonValue;
  state: Record<string, unknown> | null;
  state_at: Date | null;
  failures: number;
  shortest_seconds: number | null;
}

interface WatchRow {
  watch_id: string;
  search_number: number;
  account_id: string;
  keyword_id: string | null;
  search_id: string | null;
  interval_seconds: number;
  backfill: true | null;
  baseline_at: Date | null;
  covered_until: Date | null;
  next_due_at: Date;
  check_seq: number;
  traceparent: string | null;
}

function searchOf(row: SearchRow, claim: string): DueSearch {
  const criteria = storedCriteria(row.criteria);
  return {
    searchKey: row.search_key,
    claim,
    source: row.source,
    criteria,
    match: matchModeOf(criteria),
    state: row.state ?? {},
    stateAt: row.state_at?.getTime(),
    failures: row.failures,
    // The column is null if no watch of the search is active; then nothing is checked.
    minIntervalSeconds: row.shortest_seconds ?? 0,
    watches: [],
  };
}

function watchOf(row: WatchRow, searchKey: string): DueWatch {
  return {
    watchId: row.watch_id,
    searchKey,
    accountId: row.account_id,
    keywordId: row.keyword_id ?? '',
    searchId: row.search_id ?? '',
    intervalSeconds: row.interval_seconds,
    backfill: row.backfill ?? false,
    baselineAt: row.baseline_at?.getTime(),
    coveredUntil: row.covered_until?.getTime(),
    tick: row.next_due_at.getTime(),
    checkSeq: Number(row.check_seq),
    ...(row.traceparent !== null && { cause: row.traceparent }),
  };
}
