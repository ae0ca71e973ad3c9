import type { SourceId } from '#contracts';
import { newId } from '#kernel';
import type { Database } from '#postgres';
import { SharedQuery } from '../due/shared-query.js';

/** One source that an Explore asks. This replica has claimed this job. */
export interface ExploreJob {
  exploreId: string;
  accountId: string;
  source: SourceId;
  question: string;
  market: string;
  /** The source is asked for any of these terms; empty: for the question. */
  terms: string[];
  /** Only for rss. */
  feedUrls: string[];
  /** Maximum number of items. */
  limit: number;
  createdAt: Date;
  claim: string;
}

interface Row {
  explore_id: string;
  account_id: string;
  source: SourceId;
  question: string;
  market: string;
  terms: string[];
  feed_urls: string[];
  most_items: number;
  created_at: Date;
}

/** A replica that has not ended its job within this time counts as dead. */
const CLAIM_SECONDS = 120;

/** Ends the claims of jobs that an earlier holder of the source's first lane had claimed. */
export async function releaseJobs(database: Database, source: string): Promise<void> {
  await database.query(
    `UPDATE explore_sources SET claim = NULL, claimed_until = 'epoch'
     WHERE source = $1 AND status = 'queued' AND claim IS NOT NULL`,
    [source],
  );
}

/**
 * Returns a query for the sources that have jobs that can be claimed now: jobs that no replica has claimed and that
 * need not wait.
 */
export function queuedExplores(database: Database): SharedQuery {
  return new SharedQuery(async (sources) => {
    const rows: { source: string }[] = await database.query(
      `SELECT s.source FROM unnest($1::text[]) AS s (source) CROSS JOIN LATERAL (SELECT FROM explore_sources q
         WHERE q.source = s.source AND q.status = 'queued' AND q.claimed_until <= now() LIMIT 1) AS queued`,
      [sources],
    );
    return rows.map(({ source }) => source);
  });
}

/** Claims the oldest queued job of the source that can be claimed now; undefined if there is none. */
export async function claimJob(database: Database, source: string): Promise<ExploreJob | undefined> {
  const claim = newId();
  const [rows]: [Row[], number] = await database.query(
    `UPDATE explore_sources AS s SET claim = $2, claimed_until = now() + make_interval(secs => $3)
     FROM explores e
     WHERE e.explore_id = s.explore_id AND (s.explore_id, s.source) = (
       SELECT q.explore_id, q.source FROM explore_sources q JOIN explores o USING (explore_id)
       WHERE q.source = $1 AND q.status = 'queued' AND q.claimed_until <= now()
       ORDER BY o.created_at LIMIT 1 FOR UPDATE OF q SKIP LOCKED)
     RETURNING e.explore_id, e.account_id, s.source, e.question, e.market, e.terms, e.feed_urls, e.most_items,
       e.created_at`,
    [source, claim, CLAIM_SECONDS],
  );
  const row = rows[0];
  return (
    row && {
      exploreId: row.explore_id,
      accountId: row.account_id,
      source: row.source,
      question: row.question,
      market: row.market,
      terms: row.terms,
      feedUrls: row.feed_urls,
      limit: row.most_items,
      createdAt: row.created_at,
      claim,
    }
  );
}

/** Ends the claim of a job. The job can be claimed again after `afterMs`. */
export async function giveJobBack(
  database: Database,
  { exploreId, source, claim }: ExploreJob,
  afterMs: number,
) {
  await database.query(
    `UPDATE explore_sources SET claim = NULL, claimed_until = now() + make_interval(secs => $4)
     WHERE explore_id = $1 AND source = $2 AND claim = $3`,
    [exploreId, source, claim, afterMs / 1000],
  );
}
