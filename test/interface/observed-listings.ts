import { insertRows, NO_ID, type ClickHouseClient, type ListingObservationRow } from '#clickhouse';
import { newId } from '#kernel';
import { countMarketDay, touchedDays } from '../../apps/analysis/readmodels/market-days.js';

// For specs only: observations of listings, as the sink writes them.

/** Start of the month of the specs. */
export const MONTH_START = Date.parse('2026-09-01T00:00:00.000Z');
/** The criteria hashes of three searches. */
export const HASHES = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];

/** Returns one observation of a lamp that is offered in France for ten euros. */
export function observation(accountId: string, more: Partial<ListingObservationRow>): ListingObservationRow {
  return {
    account_id: accountId,
    keyword_id: NO_ID,
    watch_id: newId(),
    criteria_hash: HASHES[0] ?? '',
    market: 'fr',
    listing_id: '1',
    observed_at: new Date(MONTH_START).toISOString(),
    event: 'seen',
    price: '10.00',
    previous_price: null,
    currency: 'EUR',
    title: 'A lamp',
    url: 'https://www.vinted.fr/items/1',
    brand: 'Acme',
    brand_ids: [],
    catalog_ids: [],
    first_seen_at: new Date(MONTH_START).toISOString(),
    ...more,
  };
}

/** Writes observations and the statistics of their days, as analysis does. */
export async function observe(
  clickhouse: ClickHouseClient,
  rows: readonly ListingObservationRow[],
): Promise<void> {
  await insertRows(clickhouse, 'listing_observations', rows);
  for (const day of touchedDays(rows)) await countMarketDay(clickhouse, day);
}
