/**
 * Measures how long it takes to read the market statistics of one day with a million listings. `MarketReads` reads the
 * day that was counted before; the baseline counts the observations when it runs. `npm run -s build && node dist/bench/market.js`
 */
import { openClickHouse, selectRows, type ClickHouseClient } from '#clickhouse';
import { newId } from '#kernel';
import { countMarketDay, emptyDay } from '../apps/analysis/readmodels/market-days.js';
import { MarketReads } from '../apps/gateway/reads/market-reads.js';
import {
  benchStores,
  helpWanted,
  median,
  numberOption,
  quantile,
  runBench,
  printProgress,
  table,
  target,
} from './harness.js';

helpWanted(`
Usage: node dist/bench/market.js [--observations 1000000] [--rounds 5] [--reads 20]

Measures GET /v1/vinted/market-stats of a day with this number of observations, without the gateway. The observations are
written into ClickHouse's table directly. Takes about a quarter of a minute.
`);

const OBSERVATIONS = numberOption('observations', 1_000_000);
const ROUNDS = numberOption('rounds', 5);
const READS = numberOption('reads', 20);
const DATE = '2026-03-04';
const HASH = 'a'.repeat(64);

await runBench(async (cleanup) => {
  const stores = await benchStores(cleanup);
  const clickhouse = await openClickHouse(stores.clickhouseUrl, 'bench');
  cleanup.add(() => clickhouse.close());
  const accountId = newId();
  printProgress(`writing ${OBSERVATIONS} observations`);
  await write(clickhouse, accountId);
  const day = emptyDay(accountId, 'fr', DATE);
  day.scopes.search.add(HASH);
  day.scopes.brand.add('53');
  const counting: number[] = [];
  for (let n = 0; n < 3; n += 1) counting.push(await timed(() => countMarketDay(clickhouse, day)));
  const reads = new MarketReads(clickhouse);
  const scope = { scope: 'search' as const, scopeId: HASH, market: undefined };
  const counted: number[] = [];
  const raw: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const rounds = { counted: [] as number[], raw: [] as number[] };
    for (let n = 0; n < READS; n += 1) {
      rounds.counted.push(await timed(() => reads.days(accountId, scope, DATE, DATE)));
      if (n < READS / 4) rounds.raw.push(await timed(() => fromObservations(clickhouse, accountId)));
    }
    counted.push(...rounds.counted);
    raw.push(...rounds.raw);
    printProgress(`round ${round + 1} of ${ROUNDS}`);
  }
  table(
    [`a day of ${OBSERVATIONS.toLocaleString('en')} observations, ms`, 'p50', 'p95'],
    [
      ['counted day', ...cells(counted)],
      ['counted at reading time', ...cells(raw)],
      ['after each batch: counting its day again, for one search and brand', ...cells(counting)],
    ],
  );
  target('counted day, p95 in ms', quantile(counted, 0.95), 50, 'at most');
  console.log(
    `a day counted at reading time takes ${(median(raw) / median(counted)).toFixed(1)} times as long (p50)`,
  );
});

function cells(values: readonly number[]): string[] {
  return [median(values).toFixed(1), quantile(values, 0.95).toFixed(1)];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function write(clickhouse: ClickHouseClient, accountId: string): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO listing_observations
      (account_id, market, observed_at, criteria_hash, listing_id, event, keyword_id, watch_id, price, currency,
       brand, brand_ids, first_seen_at)
      SELECT {accountId: UUID}, 'fr', toDateTime64({date: String}, 3, 'UTC') + number % 86400, {hash: String},
        toString(number), if(number % 5 = 0, 'created', 'seen'), {keywordId: UUID}, {watchId: UUID},
        toDecimal64(1 + (number * 7919 % 20000) / 100, 4), 'EUR', 'Acme', ['53'],
        toDateTime64({date: String}, 3, 'UTC')
      FROM numbers({count: UInt64})`,
    query_params: {
      accountId,
      date: DATE,
      hash: HASH,
      keywordId: newId(),
      watchId: newId(),
      count: OBSERVATIONS,
    },
  });
}

/** Computes the number, prices and quantiles of the listings from their observations. */
function fromObservations(clickhouse: ClickHouseClient, accountId: string): Promise<unknown[]> {
  return selectRows(
    clickhouse,
    `SELECT count(), min(price), max(price), sum(price), quantilesExactInclusive(0.25, 0.5, 0.75)(price)
     FROM (SELECT listing_id, argMax(toInt64(price * 10000), observed_at) AS price FROM listing_observations
       WHERE account_id = {accountId: UUID} AND market = 'fr' AND toDate(observed_at) = {date: Date}
         AND criteria_hash = {hash: String} AND event != 'delisted'
       GROUP BY listing_id)`,
    { accountId, date: DATE, hash: HASH },
  );
}
