import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertRows, NO_ID, type ListingObservationRow } from '#clickhouse';
import { newId } from '#kernel';
import { countMarketDay, touchedDays } from '../../apps/analysis/sinks/market-days.js';
import { seededRandom } from '../../apps/simulator/world/random.js';
import { keywordBody, startInterface, type InterfaceUnderTest } from './interface-under-test.js';

let service: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface({ SOURCE_VINTED_ENABLED: 'true' });
});
afterAll(() => service?.stop());

const DAY = 86_400_000;
const MONTH_START = Date.parse('2026-09-01T00:00:00.000Z');
const HASHES = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];

function row(accountId: string, more: Partial<ListingObservationRow>): ListingObservationRow {
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

async function write(rows: readonly ListingObservationRow[]): Promise<void> {
  await insertRows(service.clickhouse, 'listing_observations', rows);
  for (const day of touchedDays(rows)) await countMarketDay(service.clickhouse, day);
}

/** A month of listings that come, change their price and go, seen by searches that overlap. */
function month(accountId: string, keywordId: string): ListingObservationRow[] {
  const random = seededRandom(5, 'market', 'month', 0);
  const below = (n: number) => Math.floor(random() * n);
  const rows: ListingObservationRow[] = [];
  for (let id = 1; id <= 150; id += 1) {
    const from = MONTH_START + below(28 * DAY);
    const searches = HASHES.filter(() => random() < 0.5);
    const until = random() < 0.6 ? from + below(6 * DAY) : MONTH_START + 30 * DAY;
    const first = searches.length > 0 ? searches : HASHES.slice(0, 1);
    const common = { listing_id: String(id), currency: id % 11 === 0 ? 'PLN' : 'EUR' };
    const isNew = random() < 0.8;
    let price = (100 + below(5_000)) / 100;
    // Each search looks a minute after the other, and tells of the same thing by itself.
    const see = (at: number, event: string, previous: string | null = null) => {
      for (const [n, criteria_hash] of first.entries())
        rows.push(
          row(accountId, {
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

/** linear between the ranks, as spreadsheets do. */
function quantile(sorted: readonly number[], level: number): number {
  const rank = level * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] ?? 0;
  const high = sorted[Math.ceil(rank)] ?? 0;
  return low + (high - low) * (rank - Math.floor(rank));
}

const cents = (units: number) => Math.round(units / 100) / 100;

/** The statistics by the plainest code: every observation of the scope, day by day, listing by listing. */
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
      const daysToDelist: number[] = [];
      const counts = { newListings: 0, delisted: 0, priceChanges: 0 };
      for (const seen of listings.values()) {
        const sorted = seen.toSorted((a, b) => a.observed_at.localeCompare(b.observed_at));
        const last = sorted.filter(({ event }) => event !== 'delisted').at(-1);
        if (last) prices.push(Math.round(Number(last.price) * 10_000));
        const firstDay = sorted.map((one) => one.first_seen_at.slice(0, 10)).sort()[0];
        if (firstDay === date && sorted.some(({ event }) => event === 'created')) counts.newListings += 1;
        // The price before this day's first look is what that look says it was.
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
          daysToDelist.push(seconds);
        }
      }
      prices.sort((a, b) => a - b);
      daysToDelist.sort((a, b) => a - b);
      const n = prices.length;
      const at = (level: number) => (n < 5 ? null : cents(quantile(prices, level)));
      return {
        date,
        market: 'fr',
        n,
        ...counts,
        min: n === 0 ? null : cents(prices[0] ?? 0),
        p25: at(0.25),
        median: at(0.5),
        p75: at(0.75),
        max: n === 0 ? null : cents(prices.at(-1) ?? 0),
        mean: n === 0 ? null : cents(prices.reduce((sum, price) => sum + price, 0) / n),
        currency,
        medianDaysToDelist:
          daysToDelist.length === 0 ? null : Math.round((quantile(daysToDelist, 0.5) / 86_400) * 100) / 100,
        insufficientData: n < 5,
      };
    }),
  );
}

const WINDOW = 'from=2026-09-01&to=2026-10-05';

describe('the statistics of a market', () => {
  it(
    'of a month agree exactly with a recomputation from the observations, delivered twice and in any order',
    { timeout: 60_000 },
    async () => {
      const { accountId, api } = await service.tenant();
      const keyword = await api.post('/v1/keywords', keywordBody());
      const rows = month(accountId, keyword.body.id);
      const shuffled = rows.toSorted((a, b) => a.watch_id.localeCompare(b.watch_id));
      // In two deliveries that overlap.
      const half = Math.ceil(shuffled.length / 2);
      await write(shuffled.slice(half - 200));
      await write(shuffled.slice(0, half + 200));
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
    },
  );

  it('says nothing of quantiles under five listings', async () => {
    const { accountId, api } = await service.tenant();
    await write(
      ['3', '1', '4', '2'].map((price, n) => row(accountId, { listing_id: String(n), price: `${price}.50` })),
    );
    const { data } = (await api.get(`/v1/vinted/market-stats?${WINDOW}&criteria_hash=${HASHES[0]}`)).body;
    expect(data).toMatchObject([
      { n: 4, min: 1.5, max: 4.5, mean: 3, p25: null, median: null, p75: null, insufficientData: true },
    ]);
  });

  it('are of an account’s own observations only, and of its own keywords', async () => {
    const one = await service.tenant();
    const other = await service.tenant();
    const keyword = await one.api.post('/v1/keywords', keywordBody());
    await write([row(one.accountId, { keyword_id: keyword.body.id })]);
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
  ])('refuse "%s", naming %s', async (query, path) => {
    const { api } = await service.tenant();
    const answer = await api.get(`/v1/vinted/market-stats?${query}`);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([400, 'VALIDATION', path]);
  });
});

describe('the price history of a listing', () => {
  const at = (hours: number) => new Date(MONTH_START + hours * 3_600_000).toISOString();

  it('tells each step once, whichever searches saw it, with what came of it', async () => {
    const { accountId, api } = await service.tenant();
    const see = (hours: number, event: string, price: string, criteria_hash = HASHES[0]) =>
      row(accountId, {
        listing_id: '77',
        observed_at: at(hours),
        event,
        price,
        first_seen_at: at(1),
        ...(criteria_hash && { criteria_hash }),
      });
    await write([
      see(1, 'created', '20.00'),
      see(2, 'seen', '20.00', HASHES[1]),
      see(10, 'price_changed', '15.50'),
      see(11, 'price_changed', '15.50', HASHES[1]),
      see(40, 'seen', '15.50'),
      see(50, 'price_changed', '18.00'),
      see(60, 'delisted', '18.00'),
      see(61, 'delisted', '18.00', HASHES[1]),
    ]);
    const { status, body } = await api.get('/v1/vinted/items/77/price-history');
    expect(status).toBe(200);
    expect(body).toEqual({
      itemId: '77',
      market: 'fr',
      currency: 'EUR',
      firstSeenAt: at(1),
      lastSeenAt: at(50),
      status: 'delisted',
      points: [
        { at: at(1), price: 20, previousPrice: null, event: 'listing.created' },
        { at: at(10), price: 15.5, previousPrice: 20, event: 'listing.price_changed' },
        { at: at(50), price: 18, previousPrice: 15.5, event: 'listing.price_changed' },
        { at: at(60), price: 18, previousPrice: null, event: 'listing.delisted' },
      ],
      summary: { first: 20, last: 18, min: 15.5, minAt: at(10), max: 20, maxAt: at(1), changes: 2 },
    });
    const some = await api.get(
      `/v1/vinted/items/77/price-history?from=${at(5)}&to=${at(55)}&limit=1&market=fr`,
    );
    expect(some.body.points).toEqual([
      { at: at(50), price: 18, previousPrice: 15.5, event: 'listing.price_changed' },
    ]);
    expect(some.body.summary).toMatchObject({ first: 15.5, last: 18, changes: 2 });
  });

  it('takes another currency over in silence', async () => {
    const { accountId, api } = await service.tenant();
    const see = (hours: number, event: string, price: string, currency: string) =>
      row(accountId, {
        listing_id: '79',
        observed_at: at(hours),
        event,
        price,
        currency,
        first_seen_at: at(1),
      });
    await write([
      see(1, 'created', '20.00', 'EUR'),
      see(2, 'seen', '86.00', 'PLN'),
      see(3, 'price_changed', '80.00', 'PLN'),
    ]);
    const { points, currency } = (await api.get('/v1/vinted/items/79/price-history')).body;
    expect(currency).toBe('PLN');
    expect(points).toEqual([
      { at: at(1), price: 20, previousPrice: null, event: 'listing.created' },
      { at: at(3), price: 80, previousPrice: 86, event: 'listing.price_changed' },
    ]);
    const { data } = (
      await api.get(`/v1/vinted/market-stats?from=2026-09-01&to=2026-09-01&criteria_hash=${HASHES[0]}`)
    ).body;
    expect(data).toMatchObject([{ currency: 'PLN', n: 1, priceChanges: 1 }]);
  });

  it('does not end while one search still sees it, and begins anew only when it is listed anew', async () => {
    const { accountId, api } = await service.tenant();
    const watch = async (query: string): Promise<{ id: string; criteriaHash: string }> =>
      (
        await api.post('/v1/vinted/watches', {
          market: 'fr',
          criteria: { query },
          refresh_interval_seconds: 600,
        })
      ).body;
    const watches = [await watch('lamp'), await watch('old lamp')];
    const see = (hours: number, event: string, price: string, n: number) =>
      row(accountId, {
        listing_id: '78',
        observed_at: at(hours),
        event,
        price,
        criteria_hash: watches[n]?.criteriaHash ?? '',
        first_seen_at: at(1),
      });
    await write([
      see(1, 'seen', '20.00', 0),
      see(2, 'seen', '20.00', 1),
      see(3, 'delisted', '20.00', 0),
      see(24, 'seen', '20.00', 1),
    ]);
    const history = async () => (await api.get('/v1/vinted/items/78/price-history')).body;
    expect(await history()).toMatchObject({
      status: 'listed',
      points: [{ at: at(1), price: 20, previousPrice: null, event: null }],
    });
    await write([
      see(25, 'delisted', '20.00', 1),
      see(30, 'created', '20.00', 0),
      see(31, 'created', '20.00', 1),
    ]);
    const { points, status } = await history();
    expect([status, points.map(({ event }: { event: string }) => event)]).toEqual([
      'listed',
      [null, 'listing.delisted', 'listing.created'],
    ]);
    // What has ended cannot lose it any more.
    await api.delete(`/v1/vinted/watches/${watches[1]?.id}`);
    await write([see(40, 'delisted', '20.00', 0)]);
    expect((await history()).status).toBe('delisted');
  });

  it('is that of the market where it was seen last, unless one is named', async () => {
    const { accountId, api } = await service.tenant();
    await write([
      row(accountId, { listing_id: '5', observed_at: at(1), price: '10.00' }),
      row(accountId, { listing_id: '5', market: 'pl', currency: 'PLN', observed_at: at(2), price: '43.10' }),
    ]);
    const history = async (query = '') => (await api.get(`/v1/vinted/items/5/price-history${query}`)).body;
    expect(await history()).toMatchObject({ market: 'pl', currency: 'PLN', status: 'listed' });
    expect((await history('?market=fr')).points).toEqual([
      { at: at(1), price: 10, previousPrice: null, event: null },
    ]);
  });

  it('is a 404 for what the account has not observed', async () => {
    const one = await service.tenant();
    const other = await service.tenant();
    await write([row(one.accountId, { listing_id: '9' })]);
    expect((await one.api.get('/v1/vinted/items/9/price-history')).status).toBe(200);
    for (const id of ['9', 'nine', '10'])
      expect((await other.api.get(`/v1/vinted/items/${id}/price-history`)).status).toBe(404);
  });
});
