import type { Tx } from '#postgres';

/**
 * Keeps on record for how long each watch of a keyword (or the lone watch) ran at which quote: a period ends when the
 * watch is paused, ends, or is quoted anew, and the next begins.
 */
export async function keepQuotes(tx: Tx, subjectId: string, at: string): Promise<void> {
  await tx.query(
    `UPDATE quoted_periods q SET to_at = $2
     FROM watches w
     WHERE w.watch_id = q.watch_id AND (w.keyword_id = $1 OR w.watch_id = $1) AND q.to_at IS NULL
       AND (NOT w.is_active OR w.interval_seconds <> q.interval_seconds
         OR w.credits_per_check <> q.credits_per_check)`,
    [subjectId, at],
  );
  await tx.query(
    `INSERT INTO quoted_periods (watch_id, account_id, keyword_id, source, from_at, interval_seconds,
       credits_per_check, first_scan_credits, price_book_version)
     SELECT w.watch_id, w.account_id, w.keyword_id, w.source, $2, w.interval_seconds, w.credits_per_check,
       CASE WHEN EXISTS (SELECT 1 FROM quoted_periods q WHERE q.watch_id = w.watch_id) THEN 0
         ELSE w.first_scan_credits END,
       w.price_book_version
     FROM watches w
     WHERE (w.keyword_id = $1 OR w.watch_id = $1) AND w.is_active AND w.retired_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM quoted_periods q WHERE q.watch_id = w.watch_id AND q.to_at IS NULL)
     ON CONFLICT (watch_id, from_at) DO UPDATE SET to_at = NULL, interval_seconds = excluded.interval_seconds,
       credits_per_check = excluded.credits_per_check`,
    [subjectId, at],
  );
}
