import { Inject, Injectable } from '@nestjs/common';
import type { Digest } from '#contracts';
import { DATABASE } from '#platform';
import type { Database } from '#postgres';

/** A row of `reports`. */
export interface ReportRow {
  report_id: string;
  keyword_id: string;
  channel_id: string;
  period_from: Date;
  period_to: Date;
  created_at: Date;
  body: Digest;
}

/** A report's position in the list: ISO 8601 time, and id. */
export interface ReportPosition {
  at: string;
  id: string;
}

const KEPT = `SELECT r.* FROM reports r
  WHERE NOT EXISTS (SELECT 1 FROM purged_keywords p WHERE p.keyword_id = r.keyword_id)`;

/** Reads weekly reports. Another account's reports, and reports of purged keywords, are not found. */
@Injectable()
export class ReportReads {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  report(accountId: string, reportId: string): Promise<ReportRow | undefined> {
    return this.one('r.account_id = $1 AND r.report_id = $2', accountId, reportId);
  }

  /** Returns the report of a signed address. */
  reportOfPage(reportId: string): Promise<ReportRow | undefined> {
    return this.one('r.report_id = $1', reportId);
  }

  /** @param token the last part of an address that was not signed */
  reportOfToken(token: string): Promise<ReportRow | undefined> {
    return this.one('r.token = $1', token);
  }

  /**
   * Returns reports, newest first. Returns up to one more than `limit`, so that the caller knows whether there is a
   * next page.
   */
  reports(
    accountId: string,
    keyword: string | null,
    limit: number,
    before: ReportPosition | undefined,
  ): Promise<ReportRow[]> {
    return this.database.query(
      `${KEPT} AND r.account_id = $1 AND ($2::uuid IS NULL OR r.keyword_id = $2)
         AND ($3::timestamptz IS NULL OR (r.created_at, r.report_id) < ($3, $4::uuid))
       ORDER BY r.created_at DESC, r.report_id DESC LIMIT $5`,
      [accountId, keyword, before?.at ?? null, before?.id ?? null, limit + 1],
    );
  }

  private async one(condition: string, ...params: string[]): Promise<ReportRow | undefined> {
    const rows: ReportRow[] = await this.database.query(`${KEPT} AND ${condition}`, params);
    return rows[0];
  }
}
