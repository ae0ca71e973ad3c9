import type { MarketDayRow } from '../../reads/market-reads.js';

/** With fewer listings, the statistics of a market are not meaningful. */
const MIN_LISTINGS = 5;
const SECONDS_PER_DAY = 86_400;

/** One day of the market statistics, as the interface returns it. Quantiles interpolate linearly. */
export function marketDayView(row: MarketDayRow) {
  const n = Number(row.n);
  const [p25, median, p75] = row.quantiles;
  const insufficientData = n < MIN_LISTINGS;
  const quantile = (price: number) => (insufficientData ? null : priceOf(price));
  return {
    date: row.date,
    market: row.market,
    n,
    newListings: Number(row.new_listings),
    delisted: Number(row.delisted),
    priceChanges: Number(row.price_changes),
    min: n === 0 ? null : priceOf(Number(row.lowest)),
    p25: quantile(p25),
    median: quantile(median),
    p75: quantile(p75),
    max: n === 0 ? null : priceOf(Number(row.highest)),
    mean: n === 0 ? null : priceOf(Number(row.total) / n),
    currency: row.currency,
    medianDaysToDelist:
      Number(row.delisted) === 0 ? null : Math.round((row.seconds_to_delist / SECONDS_PER_DAY) * 100) / 100,
    insufficientData,
  };
}

/** Converts a price in ten-thousandths of the currency's unit to a price with at most two decimals. */
function priceOf(tenThousandths: number): number {
  return Math.round(tenThousandths / 100) / 100;
}
