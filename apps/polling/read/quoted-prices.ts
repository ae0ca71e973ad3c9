import { PRICE_BOOK_VERSION } from '#contracts';
import type { Database } from '#postgres';

/** The quote of a watch by another price book than that of this release. All numbers are credits. */
export interface OtherQuote {
  priceBookVersion: string;
  /** Includes other brands in answers of AI engines, if `coBrands` is true. */
  creditsPerCheck: number;
  firstScanCredits: number;
  coBrands: boolean;
}

/**
 * Returns the quotes by another price book, by watch id. During an upgrade to a release with new prices, the keywords
 * service gives each watch its new quote; until then, the earlier quote applies.
 */
export async function otherQuotes(
  database: Database,
  watchIds: readonly string[],
): Promise<ReadonlyMap<string, OtherQuote>> {
  const rows: (OtherQuote & { watchId: string })[] = await database.query(
    // A watch of a release without quotes has no version.
    // OFFSET 0 makes Postgres use the index, even while its statistics say that the table is small.
    `SELECT w.watch_id AS "watchId", w.price_book_version AS "priceBookVersion",
       w.credits_per_check AS "creditsPerCheck", w.first_scan_credits AS "firstScanCredits",
       COALESCE((SELECT (k.definition->>'coBrandsEnabled')::boolean FROM keywords k
                 WHERE k.keyword_id = w.keyword_id), false) AS "coBrands"
     FROM unnest($1::uuid[]) AS due (watch_id) CROSS JOIN LATERAL (
       SELECT * FROM watches WHERE watch_id = due.watch_id AND price_book_version NOT IN ($2, '') OFFSET 0) AS w`,
    [watchIds, PRICE_BOOK_VERSION],
  );
  return new Map(rows.map((row) => [row.watchId, row]));
}
