import { NO_ID, type ClickHouseClient, type ListingObservationRow } from '#clickhouse';

/** One UTC day of one account's observations on one market. */
export interface MarketDay {
  accountId: string;
  market: string;
  /** `2026-03-04` */
  date: string;
}

/** The days that rows belong to, each once. */
export function touchedDays(
  rows: readonly Pick<ListingObservationRow, 'account_id' | 'market' | 'observed_at'>[],
): MarketDay[] {
  const days = new Map<string, MarketDay>();
  for (const { account_id: accountId, market, observed_at } of rows) {
    const date = observed_at.slice(0, 10);
    days.set(`${accountId} ${market} ${date}`, { accountId, market, date });
  }
  return [...days.values()];
}

/**
 * Counts a day anew from its observations, for each search, keyword, brand and catalogue that they belong to. A
 * listing counts once in each, at the last price that was seen of it on that day. Counting from the observations,
 * and never adding up, keeps the figures exact however often a check is delivered.
 */
export async function countMarketDays(clickhouse: ClickHouseClient, day: MarketDay): Promise<void> {
  await clickhouse.command({
    query: COUNT,
    query_params: { ...day, noId: NO_ID },
    clickhouse_settings: { wait_end_of_query: 1 },
  });
}

const COUNT = `
INSERT INTO market_days
SELECT account_id, market, scope.1, scope.2, date, currency, now64(3),
  countIf(present), countIf(created), countIf(delisted), sum(changes),
  minIf(price, present), maxIf(price, present), sumIf(price, present),
  quantilesExactWeightedInterpolatedStateIf(0.25, 0.5, 0.75)(price, 1, present),
  quantilesExactWeightedInterpolatedStateIf(0.5)(seconds, 1, delisted)
FROM (
  SELECT account_id, market, scope, date, listing_id,
    argMax(currency, observed_at) AS currency,
    argMaxIf(toInt64(price * 10000), observed_at, event != 'delisted') AS price,
    countIf(event != 'delisted') > 0 AS present,
    countIf(event = 'created') > 0 AS created,
    countIf(event = 'delisted') > 0 AS delisted,
    uniqExactIf(observed_at, event = 'price_changed') AS changes,
    dateDiff('second', min(first_seen_at), maxIf(observed_at, event = 'delisted')) AS seconds
  FROM (
    SELECT *, toDate(observed_at) AS date,
      arrayJoin(arrayConcat(
        [('search', criteria_hash)],
        if(keyword_id = {noId: UUID}, [], [('keyword', toString(keyword_id))]),
        arrayMap(id -> ('brand', id), brand_ids),
        arrayMap(id -> ('catalog', id), catalog_ids)
      )) AS scope
    FROM listing_observations
    WHERE account_id = {accountId: UUID} AND market = {market: String} AND toDate(observed_at) = {date: Date}
  )
  GROUP BY account_id, market, scope, date, listing_id
)
GROUP BY account_id, market, scope, date, currency`;
