import { NO_ID, type ClickHouseClient, type ListingObservationRow } from '#clickhouse';

/** The scopes of statistics: a search (the hash of its criteria), a keyword, the id of a brand or of a catalogue. */
export const MARKET_SCOPES = ['search', 'keyword', 'brand', 'catalog'] as const;
/** A kind of scope. */
export type MarketScopeKind = (typeof MARKET_SCOPES)[number];

/** One UTC day of an account's observations in one market, and the scopes to count. */
export interface MarketDay {
  accountId: string;
  market: string;
  /** `2026-03-04` */
  date: string;
  scopes: Record<MarketScopeKind, Set<string>>;
}

/** Returns a day without scopes. */
export function emptyDay(accountId: string, market: string, date: string): MarketDay {
  const scopes = { search: new Set(), keyword: new Set(), brand: new Set(), catalog: new Set() };
  return { accountId, market, date, scopes: scopes as MarketDay['scopes'] };
}

/** Returns the days and scopes of these rows, without duplicates. */
export function touchedDays(rows: readonly ListingObservationRow[]): MarketDay[] {
  const days = new Map<string, MarketDay>();
  for (const row of rows) {
    const date = row.observed_at.slice(0, 10);
    const key = `${row.account_id} ${row.market} ${date}`;
    const day = days.get(key) ?? emptyDay(row.account_id, row.market, date);
    days.set(key, day);
    day.scopes.search.add(row.criteria_hash);
    if (row.keyword_id !== NO_ID) day.scopes.keyword.add(row.keyword_id);
    for (const id of row.brand_ids) day.scopes.brand.add(id);
    for (const id of row.catalog_ids) day.scopes.catalog.add(id);
  }
  return [...days.values()];
}

/**
 * Counts the scopes of a day again from its observations. In each scope, a listing is counted only once, with its
 * last price of that day. Nothing is added to earlier figures, so the figures are right even if NATS delivers a check
 * twice.
 */
export async function countMarketDay(clickhouse: ClickHouseClient, day: MarketDay): Promise<void> {
  const { accountId, market, date, scopes } = day;
  for (const kind of MARKET_SCOPES) {
    const ids = [...scopes[kind]];
    if (ids.length === 0) continue;
    await clickhouse.command({
      query: countOf(kind),
      query_params: { accountId, market, date, ids },
      clickhouse_settings: { wait_end_of_query: 1 },
    });
  }
}

/**
 * How to select the observations of a scope, by kind. Each kind has a separate statement, because one statement for
 * several kinds takes four times as long.
 */
const SCOPE_SELECTIONS: Record<MarketScopeKind, { scopeId: string; where: string }> = {
  search: { scopeId: 'criteria_hash', where: 'criteria_hash IN {ids: Array(String)}' },
  keyword: { scopeId: 'toString(keyword_id)', where: 'keyword_id IN {ids: Array(UUID)}' },
  brand: {
    scopeId: 'arrayJoin(arrayIntersect(brand_ids, {ids: Array(String)}))',
    where: 'hasAny(brand_ids, {ids: Array(String)})',
  },
  catalog: {
    scopeId: 'arrayJoin(arrayIntersect(catalog_ids, {ids: Array(String)}))',
    where: 'hasAny(catalog_ids, {ids: Array(String)})',
  },
};

function countOf(kind: MarketScopeKind): string {
  const { scopeId, where } = SCOPE_SELECTIONS[kind];
  return `
INSERT INTO market_days
SELECT {accountId: UUID}, {market: String}, '${kind}', scope_id, {date: Date}, currency, now64(3),
  countIf(present), countIf(created), countIf(delisted), sum(changes),
  minIf(last_price, present), maxIf(last_price, present), sumIf(last_price, present),
  quantilesExactWeightedInterpolatedStateIf(0.25, 0.5, 0.75)(last_price, 1, present),
  quantilesExactWeightedInterpolatedStateIf(0.5)(seconds, 1, delisted)
FROM (
  SELECT ${scopeId} AS scope_id, listing_id,
    argMax(currency, observed_at) AS currency,
    argMaxIf(toInt64(price * 10000), observed_at, event != 'delisted') AS last_price,
    countIf(event != 'delisted') > 0 AS present,
    -- An overlapping search can see a listing for the first time days later. The listing is new only on its first day.
    countIf(event = 'created') > 0 AND toDate(min(first_seen_at)) = {date: Date} AS created,
    countIf(event = 'delisted') > 0 AS delisted,
    -- Two searches can report the same change at different times. Each step of the price is one change.
    arraySort(groupArrayIf((observed_at, toInt64(price * 10000), event = 'price_changed', listing_observations.currency),
      event != 'delisted')) AS steps,
    if(empty(steps), 0, steps[1].3 +
      arrayCount((a, b) -> a.2 != b.2 AND a.4 = b.4, arrayPopFront(steps), arrayPopBack(steps))) AS changes,
    dateDiff('second', min(first_seen_at), maxIf(observed_at, event = 'delisted')) AS seconds
  FROM listing_observations
  WHERE account_id = {accountId: UUID} AND market = {market: String} AND toDate(observed_at) = {date: Date}
    AND ${where}
  GROUP BY scope_id, listing_id
)
GROUP BY scope_id, currency`;
}
