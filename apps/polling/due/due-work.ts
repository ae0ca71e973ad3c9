import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { CriteriaSchema, type Criteria, type MatchMode, type SourceId } from '#contracts';
import { matchModeOf } from '#criteria';
import { newId } from '#kernel';
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
  /** Before the first check: `traceparent` of what created the watch, where its trace is recorded. */
  cause?: string;
}

/** A search that somebody has taken. */
export interface ClaimedSearch {
  searchKey: string;
  /** Which claim it was (a UUID): whoever is late finds that the search is another's by now, and leaves it alone. */
  claim: string;
}

/** An upstream search with the watches that wait for it. */
export interface DueSearch extends ClaimedSearch {
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
  traceparent: string | null;
}

/** Whoever has not prolonged a claim for so long is taken for dead. A read may take longer, Postgres be away for less. */
export const SEARCH_LEASE_SECONDS = 600;

/** Claimed searches, of those handed in, which are still theirs. In the order of the keys, as everybody locks them. */
const OWN = `SELECT s.search_key FROM upstream_searches s
  JOIN unnest($1::text[], $2::uuid[]) AS own (search_key, claim) ON own.search_key = s.search_key AND own.claim = s.claim
  ORDER BY s.search_key FOR UPDATE OF s`;

/**
 * Takes due searches of a lane, the longest due first, and holds them until they are recorded or released.
 * The list of keys is made once: as `IN (SELECT … LIMIT …)` Postgres may run it for every row, and then no limit holds.
 * @param claim what to call the claim
 * @param withState what their connectors remember, which can be much, is wanted too
 */
export async function claimDue(
  database: Database | Tx,
  lane: string,
  limit: number,
  { claim = newId(), withState = true } = {},
): Promise<DueSearch[]> {
  // Together: searches without their watches would be claimed for nobody.
  return database.transaction(async (tx) => {
    const [rows]: [SearchRow[]] = await tx.query(
      `UPDATE upstream_searches SET leased_until = now() + make_interval(secs => $3), claim = $5
       WHERE search_key = ANY (ARRAY(SELECT search_key FROM upstream_searches
         WHERE lane = $1 AND next_due_at <= now() AND leased_until < now()
         ORDER BY next_due_at LIMIT $2 FOR UPDATE SKIP LOCKED))
       RETURNING search_key, source, criteria, state_at, failures,
         CASE WHEN $4 THEN state ELSE '{}' END AS state,
         (SELECT min(w.interval_seconds) FROM watch_schedule w
          WHERE w.search_key = upstream_searches.search_key AND w.is_active) AS shortest_seconds`,
      [lane, limit, SEARCH_LEASE_SECONDS, withState, claim],
    );
    if (rows.length === 0) return [];
    const searches = new Map(rows.map((row) => [row.search_key, searchOf(row, claim)]));
    // In a statement of its own, which sees what was recorded before the searches were locked.
    const watches: WatchRow[] = await tx.query(
      'SELECT * FROM watch_schedule WHERE search_key = ANY($1) AND is_active AND next_due_at <= now()',
      [[...searches.keys()]],
    );
    for (const row of watches) searches.get(row.search_key)?.watches.push(watchOf(row));
    const dueSince = ({ watches }: DueSearch) => Math.min(...watches.map(({ tick }) => tick));
    return [...searches.values()].sort((a, b) => (dueSince(a) < dueSince(b) ? -1 : 1));
  });
}

/** The lane has a new holder: what the one before had under way is due again, and is no longer theirs. */
export async function releaseLane(database: Database, lane: string): Promise<void> {
  await database.query(`UPDATE upstream_searches SET leased_until = 'epoch', claim = NULL WHERE lane = $1`, [
    lane,
  ]);
}

/** Gives everything that a claim has taken back unread, where it is not known what that was. */
export async function releaseClaim(database: Database, lane: string, claim: string): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = 'epoch', claim = NULL WHERE lane = $1 AND claim = $2`,
    [lane, claim],
  );
}

/** Gives searches back unread; their watches stay due. */
export async function releaseSearches(database: Database, searches: readonly ClaimedSearch[]): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = 'epoch', claim = NULL WHERE search_key IN (${OWN})`,
    keysAndClaims(searches),
  );
}

/** Holds searches longer: their read waits or is under way. */
export async function prolongSearches(database: Database, searches: readonly ClaimedSearch[]): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = now() + make_interval(secs => $3) WHERE search_key IN (${OWN})`,
    [...keysAndClaims(searches), SEARCH_LEASE_SECONDS],
  );
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
export async function settleIdle(database: Database, searches: readonly ClaimedSearch[]): Promise<void> {
  if (searches.length === 0) return;
  await database.transaction(async (tx) => {
    await lockSearches(
      tx,
      searches.map(({ searchKey }) => searchKey),
    );
    await settle(tx, searches);
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

/**
 * Gives searches, which the transaction has locked, back: due when the next of their watches is. That is so whoever
 * has them. Where that is somebody else by now they keep them: their read is under way, and would be made once more.
 */
export async function settle(tx: Tx, searches: readonly ClaimedSearch[]): Promise<void> {
  await tx.query(
    `UPDATE upstream_searches s SET
       leased_until = CASE WHEN s.claim = own.claim THEN 'epoch' ELSE s.leased_until END,
       claim = NULLIF(s.claim, own.claim),
       next_due_at = COALESCE(
         (SELECT min(w.next_due_at) FROM watch_schedule w WHERE w.search_key = s.search_key AND w.is_active), 'infinity')
     FROM unnest($1::text[], $2::uuid[]) AS own (search_key, claim) WHERE s.search_key = own.search_key`,
    keysAndClaims(searches),
  );
}

/** Age of the search that has been due the longest, in seconds, for each source; 0 where none is. */
export async function lateness(database: Database): Promise<{ source: string; seconds: number }[]> {
  return database.query(
    `SELECT source, GREATEST(0, extract(epoch FROM now() - min(next_due_at)))::float8 AS seconds
     FROM upstream_searches WHERE next_due_at < 'infinity' GROUP BY source`,
  );
}

/** Each once: of a search with very many watches each of them names it. */
function keysAndClaims(searches: readonly ClaimedSearch[]): [string[], string[]] {
  const claims = new Map(searches.map(({ searchKey, claim }) => [searchKey, claim]));
  return [[...claims.keys()], [...claims.values()]];
}

function searchOf(row: SearchRow, claim: string): DueSearch {
  const criteria = fromJson(CriteriaSchema, row.criteria);
  return {
    searchKey: row.search_key,
    claim,
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
    ...(row.traceparent !== null && { cause: row.traceparent }),
  };
}
