import { Inject, Injectable } from '@nestjs/common';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';
import type { QuotedPeriod } from '#quotes';

/** The charges of a keyword on one source and UTC day. */
export interface ChargedDay {
  source: string;
  /** `2026-03-04` */
  date: string;
  /** Number of charged checks. */
  checks: number;
  /** Credits of all charges: of the checks, and of the readings of their items. */
  credits: number;
}

/** Reads the quoted and the charged credits of a keyword. */
@Injectable()
export class QuoteReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Returns the quoted periods that overlap the time range. */
  async periods(accountId: string, keywordId: string, since: Date, until: Date): Promise<QuotedPeriod[]> {
    const rows: {
      watch_id: string;
      source: string;
      from_at: Date;
      to_at: Date | null;
      previous_to: Date | null;
      interval_seconds: number;
      credits_per_check: number;
      first_scan_credits: number;
    }[] = await this.database.query(
      `SELECT * FROM (
         SELECT *, lag(to_at) OVER (PARTITION BY watch_id ORDER BY from_at) AS previous_to FROM quoted_periods
         WHERE account_id = $1 AND keyword_id = $2
       ) AS p WHERE from_at < $4 AND (to_at IS NULL OR to_at > $3)`,
      [accountId, keywordId, since, until],
    );
    return rows.map((row) => ({
      watchId: row.watch_id,
      source: row.source,
      from: row.from_at.getTime(),
      to: row.to_at?.getTime(),
      previousTo: row.previous_to?.getTime(),
      intervalSeconds: row.interval_seconds,
      creditsPerCheck: row.credits_per_check,
      firstScanCredits: row.first_scan_credits,
    }));
  }

  charged(accountId: string, keywordId: string, since: Date, until: Date): Promise<ChargedDay[]> {
    return this.database.query(
      `SELECT source, to_char(fact_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date,
         count(*) FILTER (WHERE operation IN ('check', 'first_scan'))::int AS checks, (-sum(amount))::bigint AS credits
       FROM credit_movements
       WHERE keyword_id = $2 AND account_id = $1 AND kind = 'charge' AND fact_at >= $3 AND fact_at < $4
       GROUP BY 1, 2 ORDER BY 2, 1`,
      [accountId, keywordId, since, until],
    );
  }
}
