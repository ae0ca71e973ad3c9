import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** The states of a replay. */
export const REPLAY_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

/** The part of a row of `replays` that users see. */
export interface ReplayRow {
  replay_id: string;
  status: (typeof REPLAY_STATES)[number];
  since: Date;
  until: Date;
  keyword_id: string | null;
  watch_id: string | null;
  /** Null if the keyword of the replay or of its watch was purged. */
  url: string | null;
  types: string[];
  rate_per_second: number;
  /** Null until the replay has started. */
  matched: number | null;
  sent: number;
  failed: number;
  missing: number;
  message: string;
  created_at: Date;
  finished_at: Date | null;
}

/** The filter of a list of replays. */
export interface ReplayFilter {
  status: string | null;
  keyword: string | null;
  watch: string | null;
}

/** A replay's position in the list: ISO 8601 time, and id. */
export interface ReplayPosition {
  at: string;
  id: string;
}

/** Reads replays. Another account's replays are not found. */
@Injectable()
export class ReplayReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async replay(accountId: string, replayId: string): Promise<ReplayRow | undefined> {
    const rows: ReplayRow[] = await this.database.query(
      'SELECT * FROM replays WHERE account_id = $1 AND replay_id = $2',
      [accountId, replayId],
    );
    return rows[0];
  }

  /**
   * Returns replays, newest first. Returns up to one more than `limit`, so that the caller knows whether there is a
   * next page.
   */
  replays(
    accountId: string,
    { status, keyword, watch }: ReplayFilter,
    limit: number,
    before: ReplayPosition | undefined,
  ): Promise<ReplayRow[]> {
    return this.database.query(
      `SELECT * FROM replays WHERE account_id = $1
         AND ($2::text IS NULL OR status = $2) AND ($3::uuid IS NULL OR keyword_id = $3)
         AND ($4::uuid IS NULL OR watch_id = $4)
         AND ($5::timestamptz IS NULL OR (created_at, replay_id) < ($5, $6::uuid))
       ORDER BY created_at DESC, replay_id DESC LIMIT $7`,
      [accountId, status, keyword, watch, before?.at ?? null, before?.id ?? null, limit + 1],
    );
  }
}
