import { NO_ID, type ListingObservationRow } from '#clickhouse';
import { seededRandom } from '../../apps/simulator/world/random.js';
import { keywordBody, startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { HASHES, MONTH_START, observation, observe } from './observed-listings.js';

let service: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface();
});
afterAll(() => service?.stop());

const DAY = 86_400_000;

/** Returns a month of listings that appear, change their price and disappear, observed by overlapping searches. */
function month(accountId: string, keywordId: string): ListingObservationRow[] {
  const random = seededRandom(5, 'market', 'month', 0);
  const below = (n: number) => Math.floor(random() * n);
  const rows: ListingObservationRow[] = [];
  for (let id = 1; id <= 150; id += 1) {
    const from = MONTH_START + below(28 * DAY);
    const searches = HASHES.filter(() => random() < 0.5);
    const until = random() < 0.6 ? from + below(6 * DAY) : MONTH_START + 30 * DAY;
    const observing = searches.length > 0 ? searches : HASHES.slice(0, 1);
    const common = { listing_id: String(id), currency: id % 11 === 0 ? 'PLN' : 'EUR' };
    const isNew = random() < 0.8;
    let price = (100 + below(5_000)) / 100;
    // The searches read one minute after each other, and each reports the same change separately.
    const see = (at: number, event: string, previous: string | null = null) => {
      for (const [n, criteria_hash] of observing.entries())
        rows.push(
          observation(accountId, {
            ...common,
            keyword_id: criteria_hash === HASHES[1] ? keywordId : NO_ID,
            watch_id: `00000000-0000-7000-8000-${String(id * 10 + n).padStart(12, '0')}`,
            criteria_hash,
            brand_ids: criteria_hash === HASHES[2] ? [] : ['53'],
            catalog_ids: criteria_hash === HASHES[0] ? ['1904', '2050'] : [],
            first_seen_at: new Date(from + n * 60_000).toISOString(),
            observed_at: new Date(at + n * 60_000).toISOString(),
            event,
            price: price.toFixed(2),
            previous_price: previous,
          }),
        );
    };
    see(from, isNew ? 'created' : 'seen');
    for (let at = from + DAY / 3; at < until; at += DAY / 3) {
      const before = price.toFixed(2);
      if (random() < 0.15) {
        price = (100 + below(5_000)) / 100;
        see(at, 'price_changed', before);
      } else see(at, 'seen');
    }
    if (until < MONTH_START + 30 * DAY) see(until + 1, 'delisted');
  }
  return rows;
}

/** Returns the R-7 quantile, which interpolates linearly between ranks, as spreadsheets do. */
function quantile(sorted: readonly number[], level: number): number {
  const rank = level * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] ?? 0;
  const high = sorted[Math.ceil(rank)] ?? 0;
  return low + (high - low) * (rank - Math.floor(rank));
}

/** Converts ten-thousandths of a currency unit to units, rounded to cents. */
const roundedToCents = (units: number) => Math.round(units / 100) / 100;

/**
 * Computes the statistics in the simplest way: from every observation in the scope, by day and by listing.
 */
function recomputed(all: readonly ListingObservationRow[], inScope: (row: ListingObservationRow) => boolean) {
  const days = new Map<string, ListingObservationRow[]>();
  for (const one of all.filter(inScope)) {
    const key = one.observed_at.slice(0, 10);
    days.set(key, [...(days.get(key) ?? []), one]);
  }
  return [...days].sort().flatMap(([date, rows]) =>
    [...new Set(rows.map(({ currency }) => currency))].sort().map((currency) => {
      const listings = new Map<string, ListingObservationRow[]>();
      for (const one of rows.filter((each) => each.currency === currency))
        listings.set(one.listing_id, [...(listings.get(one.listing_id) ?? []), one]);
      const prices: number[] = [];
      const secondsToDelist: number[] = [];
      const counts = { newListings: 0, delisted: 0, priceChanges: 0 };
      for (const seen of listings.values()) {
        const sorted = seen.toSorted((a, b) => a.observed_at.localeCompare(b.observed_at));
        const last = sorted.filter(({ event }) => event !== 'delisted').at(-1);
        if (last) prices.push(Math.round(Number(last.price) * 10_000));
        const firstDay = sorted.map((one) => one.first_seen_at.slice(0, 10)).sort()[0];
        if (firstDay === date && sorted.some(({ event }) => event === 'created')) counts.newListings += 1;
        // The first observation of the day contains the previous price.
        let before: string | null = null;
        for (const one of sorted.filter(({ event }) => event !== 'delisted')) {
          const known: string | null = before ?? one.previous_price;
          if (known !== null && Number(known) !== Number(one.price)) counts.priceChanges += 1;
          before = one.price;
        }
        const gone = sorted.filter(({ event }) => event === 'delisted').at(-1);
        if (gone) {
          counts.delisted += 1;
          const first = Math.min(...sorted.map((one) => Date.parse(one.first_seen_at)));
          const seconds = Math.floor(Date.parse(gone.observed_at) / 1000) - Math.floor(first / 1000);
          secondsToDelist.push(seconds);
        }
      }
      prices.sort((a, b) => a - b);
      secondsToDelist.sort((a, b) => a - b);
      const n = prices.length;
      const at = (level: number) => (n < 5 ? null : roundedToCents(quantile(prices, level)));
      return {
        date,
        market: 'fr',
        n,
        ...counts,
        min: n === 0 ? null : roundedToCents(prices[0] ?? 0),
        p25: at(0.25),
        median: at(0.5),
        p75: at(0.75),
        max: n === 0 ? null : roundedToCents(prices.at(-1) ?? 0),
        mean: n === 0 ? null : roundedToCents(prices.reduce((sum, price) => sum + price, 0) / n),
        currency,
        medianDaysToDelist:
          secondsToDelist.length === 0
            ? null
            : Math.round((quantile(secondsToDelist, 0.5) / 86_400) * 100) / 100,
        insufficientData: n < 5,
      };
    }),
  );
}

const WINDOW = 'from=2026-09-01&to=2026-10-05';

describe('the statistics of a market', () => {
  it('equal a separate computation for a month, even if observations arrive twice and in another order', async () => {
    const { accountId, api } = await service.tenant();
    const keyword = await api.post('/v1/keywords', keywordBody());
    const rows = month(accountId, keyword.body.id);
    const shuffled = rows.toSorted((a, b) => a.watch_id.localeCompare(b.watch_id));
    // Some observations are in both deliveries.
    const half = Math.ceil(shuffled.length / 2);
    await observe(service.clickhouse, shuffled.slice(half - 200));
    await observe(service.clickhouse, shuffled.slice(0, half + 200));
    const stats = async (query: string) => {
      const answer = await api.get(`/v1/vinted/market-stats?${WINDOW}&${query}`);
      expect(answer.status).toBe(200);
      return answer.body.data;
    };
    for (const hash of HASHES)
      expect(await stats(`criteria_hash=${hash}`)).toEqual(
        recomputed(rows, ({ criteria_hash }) => criteria_hash === hash),
      );
    const byKeyword = await stats(`keyword_id=${keyword.body.id}&market=fr`);
    expect(byKeyword).toEqual(recomputed(rows, ({ keyword_id }) => keyword_id === keyword.body.id));
    expect(byKeyword.length).toBeGreaterThan(25);
    expect(await stats('brand_id=53&market=fr')).toEqual(
      recomputed(rows, ({ brand_ids }) => brand_ids.includes('53')),
    );
    expect(await stats('catalog_id=2050&market=fr')).toEqual(
      recomputed(rows, ({ catalog_ids }) => catalog_ids.includes('2050')),
    );
    expect(await stats('catalog_id=2050&market=de')).toEqual([]);
  }, 60_000);

  it('have null instead of quantiles for fewer than five listings', async () => {
    const { accountId, api } = await service.tenant();
    await observe(
      service.clickhouse,
      ['3', '1', '4', '2'].map((price, n) =>
        observation(accountId, { listing_id: String(n), price: `${price}.50` }),
      ),
    );
    const { data } = (await api.get(`/v1/vinted/market-stats?${WINDOW}&criteria_hash=${HASHES[0]}`)).body;
    expect(data).toMatchObject([
      { n: 4, min: 1.5, max: 4.5, mean: 3, p25: null, median: null, p75: null, insufficientData: true },
    ]);
  });

  it('include only the account’s own observations, and return 404 for another account’s keyword', async () => {
    const one = await service.tenant();
    const other = await service.tenant();
    const keyword = await one.api.post('/v1/keywords', keywordBody());
    await observe(service.clickhouse, [observation(one.accountId, { keyword_id: keyword.body.id })]);
    const path = `/v1/vinted/market-stats?${WINDOW}&criteria_hash=${HASHES[0]}`;
    expect((await one.api.get(path)).body.data.length).toBe(1);
    expect((await other.api.get(path)).body.data).toEqual([]);
    const ofKeyword = `/v1/vinted/market-stats?${WINDOW}&keyword_id=${keyword.body.id}`;
    expect((await one.api.get(ofKeyword)).status).toBe(200);
    expect((await other.api.get(ofKeyword)).status).toBe(404);
  });

  it.each([
    ['', 'criteria_hash'],
    [`criteria_hash=${HASHES[0]}&brand_id=53`, 'criteria_hash'],
    ['brand_id=53', 'market'],
    [`criteria_hash=${HASHES[0]}&from=2026-09-02&to=2026-09-01`, 'from'],
    [`criteria_hash=${HASHES[0]}&from=2020-09-02`, 'from'],
    [`criteria_hash=${HASHES[0]}&days=3`, 'days'],
  ])('refuse the query "%s" and name %s', async (query, path) => {
    const { api } = await service.tenant();
    const answer = await api.get(`/v1/vinted/market-stats?${query}`);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', path]);
  });
});
