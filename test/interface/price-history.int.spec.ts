import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { HASHES, MONTH_START, observation, observe } from './observed-listings.js';

let service: InterfaceUnderTest;

beforeAll(async () => {
  service = await startInterface({ SOURCE_VINTED_ENABLED: 'true' });
});
afterAll(() => service?.stop());

describe('the price history of a listing', () => {
  const at = (hours: number) => new Date(MONTH_START + hours * 3_600_000).toISOString();

  it('shows each change once, although two searches observed it', async () => {
    const { accountId, api } = await service.tenant();
    const see = (hours: number, event: string, price: string, criteria_hash = HASHES[0]) =>
      observation(accountId, {
        listing_id: '77',
        observed_at: at(hours),
        event,
        price,
        first_seen_at: at(1),
        ...(criteria_hash && { criteria_hash }),
      });
    await observe(service.clickhouse, [
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

  it('adds no point if a listing is seen in another currency, and the market statistics then use the last currency', async () => {
    const { accountId, api } = await service.tenant();
    const see = (hours: number, event: string, price: string, currency: string) =>
      observation(accountId, {
        listing_id: '79',
        observed_at: at(hours),
        event,
        price,
        currency,
        first_seen_at: at(1),
      });
    await observe(service.clickhouse, [see(1, 'created', '20.00', 'EUR')]);
    await observe(service.clickhouse, [
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
    expect(data).toHaveLength(1);
    expect(data).toMatchObject([{ currency: 'PLN', n: 1, priceChanges: 1 }]);
  });

  it('has market statistics for a period of at most 366 days', async () => {
    const { api } = await service.tenant();
    const statusOf = async (from: string) =>
      (await api.get(`/v1/vinted/market-stats?from=${from}&to=2026-09-01&criteria_hash=${HASHES[0]}`)).status;
    expect([await statusOf('2025-09-01'), await statusOf('2025-08-31')]).toEqual([200, 400]);
  });

  it('ends when no search finds the listing any more, and continues when the listing appears again', async () => {
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
      observation(accountId, {
        listing_id: '78',
        observed_at: at(hours),
        event,
        price,
        criteria_hash: watches[n]?.criteriaHash ?? '',
        first_seen_at: at(1),
      });
    await observe(service.clickhouse, [
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
    await observe(service.clickhouse, [
      see(25, 'delisted', '20.00', 1),
      see(30, 'created', '20.00', 0),
      see(31, 'created', '20.00', 1),
    ]);
    const { points, status } = await history();
    expect([status, points.map(({ event }: { event: string }) => event)]).toEqual([
      'listed',
      [null, 'listing.delisted', 'listing.created'],
    ]);
    // A deleted watch does not count any more: the listing is delisted when the other watch does not find it any more.
    await api.delete(`/v1/vinted/watches/${watches[1]?.id}`);
    await observe(service.clickhouse, [see(40, 'delisted', '20.00', 0)]);
    expect((await history()).status).toBe('delisted');
  });

  it('shows the market where the listing was last seen, unless the request names another market', async () => {
    const { accountId, api } = await service.tenant();
    await observe(service.clickhouse, [
      observation(accountId, { listing_id: '5', observed_at: at(1), price: '10.00' }),
      observation(accountId, {
        listing_id: '5',
        market: 'pl',
        currency: 'PLN',
        observed_at: at(2),
        price: '43.10',
      }),
    ]);
    const history = async (query = '') => (await api.get(`/v1/vinted/items/5/price-history${query}`)).body;
    expect(await history()).toMatchObject({ market: 'pl', currency: 'PLN', status: 'listed' });
    expect((await history('?market=fr')).points).toEqual([
      { at: at(1), price: 10, previousPrice: null, event: null },
    ]);
  });

  it('returns 404 for a listing that the account has not observed', async () => {
    const one = await service.tenant();
    const other = await service.tenant();
    await observe(service.clickhouse, [observation(one.accountId, { listing_id: '9' })]);
    expect((await one.api.get('/v1/vinted/items/9/price-history')).status).toBe(200);
    for (const id of ['9', 'nine', '10'])
      expect((await other.api.get(`/v1/vinted/items/${id}/price-history`)).status).toBe(404);
  });
});
