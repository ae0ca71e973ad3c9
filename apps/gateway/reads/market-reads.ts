import { Inject, Injectable } from '@nestjs/common';
import { selectRows, type ClickHouseClient, type ListingObservationRow } from '#clickhouse';
import { CLICKHOUSE } from '#platform';

/** Selects the listings of which a statistic is requested. */
export interface MarketScope {
  scope: 'search' | 'keyword' | 'brand' | 'catalog';
  scopeId: string;
  /** Undefined: all markets in which the scope was observed. */
  market: string | undefined;
}

/** One UTC day of a market's statistics. */
export interface MarketDayRow {
  date: string;
  market: string;
  currency: string;
  n: string;
  new_listings: string;
  delisted: string;
  price_changes: string;
  /** In ten-thousandths of the currency's unit, like the other prices of this type. */
  lowest: string;
  highest: string;
  total: string;
  quantiles: [number, number, number];
  seconds_to_delist: number;
}

/** Reads the observations of listings, and their statistics by day. An account sees only its own observations. */
@Injectable()
export class MarketReads {
  constructor(@Inject(CLICKHOUSE) private readonly clickhouse: ClickHouseClient) {}

  /**
   * Returns the days from `from` to `to` (`2026-03-04`), both included, oldest first. Only the rows of a day's last count
   * are valid: if the currency of every listing has changed since an earlier count, the old currency still has a row.
   */
  days(
    accountId: string,
    { scope, scopeId, market }: MarketScope,
    from: string,
    to: string,
  ): Promise<MarketDayRow[]> {
    return selectRows<MarketDayRow>(
      this.clickhouse,
      `SELECT date, market, currency, n, new_listings, delisted, price_changes, lowest, highest, total,
         finalizeAggregation(prices) AS quantiles, finalizeAggregation(seconds_to_delist)[1] AS seconds_to_delist
       FROM market_days FINAL
       WHERE account_id = {accountId: UUID} AND scope = {scope: String} AND scope_id = {scopeId: String}
         AND date >= {from: Date} AND date <= {to: Date} ${market ? 'AND market = {market: String}' : ''}
       QUALIFY counted_at = max(counted_at) OVER (PARTITION BY date, market)
       ORDER BY date, market, currency`,
      { accountId, scope, scopeId, from, to, ...(market ? { market } : {}) },
    );
  }

  /** Returns all observations of one listing, oldest first; in one market, or in all. */
  observations(
    accountId: string,
    listingId: string,
    market: string | undefined,
  ): Promise<ListingObservationRow[]> {
    return selectRows<ListingObservationRow>(
      this.clickhouse,
      `SELECT DISTINCT market, observed_at, event, toString(price) AS price, currency, first_seen_at, criteria_hash
       FROM listing_observations
       WHERE account_id = {accountId: UUID} AND listing_id = {listingId: String}
         ${market ? 'AND market = {market: String}' : ''}
       ORDER BY observed_at, event`,
      { accountId, listingId, ...(market ? { market } : {}) },
    );
  }
}
