import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** An Explore without its items. */
export interface ExploreRow {
  explore_id: string;
  question: string;
  terms: string[];
  market: string;
  most_items: number;
  credits_quoted: number;
  created_at: Date;
  sources: ExploreSourceRow[];
}

/** The outcome of one source. */
export interface ExploreSourceRow {
  source: string;
  status: 'queued' | 'running' | 'done' | 'failed';
  items: number;
  credits: number;
  message: string;
}

/** Reads Explores. Another account's Explores are not found. */
@Injectable()
export class ExploreReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async explore(accountId: string, exploreId: string): Promise<ExploreRow | undefined> {
    const rows: ExploreRow[] = await this.database.query(
      `SELECT e.*, (
         SELECT jsonb_agg(jsonb_build_object('source', s.source, 'items', s.items, 'credits', s.credits,
             'message', s.message, 'status',
             CASE WHEN s.status = 'queued' AND s.claim IS NOT NULL AND s.claimed_until > now() THEN 'running'
               ELSE s.status END) ORDER BY s.position)
         FROM explore_sources s WHERE s.explore_id = e.explore_id) AS sources
       FROM explores e WHERE e.account_id = $1 AND e.explore_id = $2`,
      [accountId, exploreId],
    );
    return rows[0];
  }
}
