import type { Criteria, MatchMode, SourceId } from '#contracts';
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
  /** The time at which the check was due. */
  tick: number;
  checkSeq: number;
  /**
   * `traceparent` of the request that created the watch. Present only before the first check, if the trace is recorded.
   */
  cause?: string;
}

/** A search that a replica has claimed. */
export interface ClaimedSearch {
  searchKey: string;
  /**
   * The id of the claim (a UUID). If another replica has claimed the search meanwhile, the earlier replica neither ends
   * nor extends the new claim. But it still records its checks, the state of the search and the due time (`settle`).
   */
  claim: string;
}

/** An upstream search with its due watches. */
export interface DueSearch extends ClaimedSearch {
  source: SourceId;
  criteria: Criteria;
  match: MatchMode;
  state: Record<string, unknown>;
  stateAt: number | undefined;
  failures: number;
  /** The shortest interval of all active watches of the search, due or not. 0 if none is active. */
  minIntervalSeconds: number;
  watches: DueWatch[];
}

/** What a search remembers after a read. */
export interface SearchMemory {
  searchKey: string;
  state: Record<string, unknown>;
  stateAt: Date;
  failures: number;
}

/**
 * A claim ends if it is not extended for this time: its replica counts as dead. While a read waits or runs, its claim
 * is extended every minute, so a read can take longer than this time. Claims survive about nine minutes without
 * Postgres.
 */
export const SEARCH_LEASE_SECONDS = 600;

/**
 * The given searches that still have the given claims. They are sorted by key, so that they are locked in the order of
 * `lockSearches`.
 */
const OWN = `SELECT s.search_key FROM upstream_searches s
  JOIN unnest($1::text[], $2::uuid[]) AS own (search_key, claim) ON own.search_key = s.search_key AND own.claim = s.claim
  ORDER BY s.search_key FOR UPDATE OF s`;

/**
 * Ends all claims of a lane's previous holder, so that the new holder can claim these searches. Does not write searches
 * without a claim, because nearly all searches of a lane have none.
 */
export async function releaseLane(database: Database, lane: string): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = NULL, claim = NULL WHERE lane = $1 AND leased_until IS NOT NULL`,
    [lane],
  );
}

/** Releases all searches of a claim; they were not read. For a claim whose searches are unknown. */
export async function releaseClaim(database: Database, lane: string, claim: string): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = NULL, claim = NULL WHERE lane = $1 AND claim = $2`,
    [lane, claim],
  );
}

/** Releases searches that were not read or not recorded. Their watches stay due. */
export async function releaseSearches(database: Database, searches: readonly ClaimedSearch[]): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = NULL, claim = NULL WHERE search_key IN (${OWN})`,
    keysAndClaims(searches),
  );
}

/** Extends the claims of searches whose read waits or is running. */
export async function extendSearches(database: Database, searches: readonly ClaimedSearch[]): Promise<void> {
  await database.query(
    `UPDATE upstream_searches SET leased_until = now() + make_interval(secs => $3) WHERE search_key IN (${OWN})`,
    [...keysAndClaims(searches), SEARCH_LEASE_SECONDS],
  );
}

/**
 * Locks searches until the transaction ends. A statement that waits for a row lock sees the new version of this row,
 * but the old version of all other rows. Such a statement would compute the next check without a watch that was
 * scheduled meanwhile, and this watch would never be checked. So the lock is a separate statement, before any write to
 * the watches' rows. The order by key prevents deadlocks.
 */
export async function lockSearches(tx: Tx, searchKeys: readonly string[]): Promise<void> {
  await tx.query(
    'SELECT 1 FROM upstream_searches WHERE search_key = ANY($1) ORDER BY search_key FOR UPDATE',
    [searchKeys],
  );
}

/**
 * Releases claimed searches that have no due watch (the watches are paused, deleted or postponed). Sets their due time
 * to that of their next active watch; `infinity` if there is none.
 */
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
 * Makes watches due again after this many seconds, without a check. The claim and the due time of their searches do not
 * change. After its release, a search without a due watch is claimed again, and only then gets its next due time
 * (`settleIdle`).
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
      `UPDATE watch_schedule SET due_second = second_of(now() + make_interval(secs => $2))
       WHERE watch_id = ANY($1) AND time_of(due_second) <= now()`,
      [watches.map(({ watchId }) => watchId), seconds],
    );
  });
}

/**
 * Releases searches that the transaction has locked. Sets the due time of each search to that of its next active watch;
 * `infinity` if there is none. If another replica has claimed a search meanwhile, this claim stays: the other replica's
 * read is running, and must not be repeated.
 * @param memories what some of these searches remember after their read: written in the same statement, because each
 * statement writes a new version of the row
 */
export async function settle(
  tx: Tx,
  searches: readonly ClaimedSearch[],
  memories: readonly SearchMemory[] = [],
): Promise<void> {
  await tx.query(
    `UPDATE upstream_searches s SET
       leased_until = CASE WHEN s.claim = own.claim THEN NULL ELSE s.leased_until END,
       claim = NULLIF(s.claim, own.claim),
       next_due_at = COALESCE((SELECT time_of(min(w.due_second)) FROM watch_schedule w
         WHERE w.search_number = s.search_number AND w.stopped IS NULL), 'infinity'),
       state = CASE WHEN m.search_key IS NULL THEN s.state ELSE NULLIF(m.state, '{}') END,
       state_at = COALESCE(m.state_at, s.state_at),
       failures = COALESCE(m.failures, s.failures)
     FROM unnest($1::text[], $2::uuid[]) AS own (search_key, claim)
     LEFT JOIN unnest($3::text[], $4::jsonb[], $5::timestamptz[], $6::int[])
       AS m (search_key, state, state_at, failures) ON m.search_key = own.search_key
     WHERE s.search_key = own.search_key`,
    [
      ...keysAndClaims(searches),
      memories.map((memory) => memory.searchKey),
      memories.map((memory) => JSON.stringify(memory.state)),
      memories.map((memory) => memory.stateAt),
      memories.map((memory) => memory.failures),
    ],
  );
}

/**
 * For each of these sources with a scheduled search, returns how many seconds ago its most overdue search was due; 0 if
 * no search is due.
 */
export async function lateness(
  database: Database,
  sources: readonly SourceId[],
): Promise<{ source: string; seconds: number }[]> {
  return database.query(
    `SELECT source, GREATEST(0, extract(epoch FROM now() - min(next_due_at)))::float8 AS seconds
     FROM upstream_searches WHERE next_due_at < 'infinity' AND source = ANY($1) GROUP BY source`,
    [sources],
  );
}

/**
 * Returns the key and the claim of each search. Leaves out duplicates, because very many watches can name the same
 * search.
 */
function keysAndClaims(searches: readonly ClaimedSearch[]): [string[], string[]] {
  const claims = new Map(searches.map(({ searchKey, claim }) => [searchKey, claim]));
  return [[...claims.keys()], [...claims.values()]];
}
