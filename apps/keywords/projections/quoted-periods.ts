import type { Tx } from '#postgres';

/** A keyword, or a watch without a keyword, whose prices or state have changed. */
export interface QuotedSubject {
  subjectId: string;
  /** Time of the change, ISO 8601. */
  at: string;
}

const COLUMNS = `watch_id, account_id, keyword_id, source, interval_seconds, credits_per_check, first_scan_credits,
  price_book_version, is_active, retired_at`;
// The subjects are passed as one JSON value. If they were an array, Postgres would estimate the number of rows from the
// array's length, and would plan the statement again at each execution.
const WATCHES_OF_SUBJECTS = `jsonb_to_recordset($1) AS s ("subjectId" uuid, at timestamptz) CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM watches WHERE keyword_id = s."subjectId"
    UNION ALL SELECT ${COLUMNS} FROM watches WHERE watch_id = s."subjectId" AND keyword_id IS NULL
    -- OFFSET 0 makes Postgres use the index, even while its statistics say that the table is small.
    OFFSET 0) AS w`;

/**
 * Records the periods in which each watch of the subjects runs at one price. A period ends when the watch is paused,
 * ends, or gets a new interval or price. A new period begins for each active watch without a current period.
 * @param subjects without duplicates
 */
export async function recordQuotedPeriods(tx: Tx, subjects: readonly QuotedSubject[]): Promise<void> {
  await tx.query(
    `UPDATE quoted_periods q SET to_at = s.at
     FROM ${WATCHES_OF_SUBJECTS}
     WHERE w.watch_id = q.watch_id AND q.to_at IS NULL
       AND (NOT w.is_active OR w.interval_seconds <> q.interval_seconds
         OR w.credits_per_check <> q.credits_per_check)`,
    [JSON.stringify(subjects)],
  );
  await beginQuotedPeriods(tx, subjects);
}

/**
 * Begins a period for each active watch of the subjects that has no current period. For new subjects, this is enough
 * (instead of `recordQuotedPeriods`), because they have no periods that could end.
 */
export async function beginQuotedPeriods(tx: Tx, subjects: readonly QuotedSubject[]): Promise<void> {
  await tx.query(
    `INSERT INTO quoted_periods (watch_id, account_id, keyword_id, source, from_at, interval_seconds,
       credits_per_check, first_scan_credits, price_book_version)
     SELECT w.watch_id, w.account_id, w.keyword_id, w.source, s.at, w.interval_seconds, w.credits_per_check,
       CASE WHEN q.periods = 0 THEN w.first_scan_credits ELSE 0 END, w.price_book_version
     FROM ${WATCHES_OF_SUBJECTS} CROSS JOIN LATERAL (
       SELECT count(*) AS periods, count(*) FILTER (WHERE to_at IS NULL) AS open_periods
       FROM quoted_periods WHERE watch_id = w.watch_id) AS q
     WHERE w.is_active AND w.retired_at IS NULL AND q.open_periods = 0
     ON CONFLICT (watch_id, from_at) DO UPDATE SET to_at = NULL, interval_seconds = excluded.interval_seconds,
       credits_per_check = excluded.credits_per_check, price_book_version = excluded.price_book_version`,
    [JSON.stringify(subjects)],
  );
}
