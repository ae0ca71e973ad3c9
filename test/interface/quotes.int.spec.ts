import { PRICE_BOOK_VERSION } from '#contracts';
import { openDatabase, type Database } from '#postgres';
import { until, type Json } from '#testing';
import { connectBilling, type BillingUnderTest } from './billing-under-test.js';
import { keywordBody, startInterface, type InterfaceUnderTest, type Tenant } from './interface-under-test.js';

let service: InterfaceUnderTest;
let billing: BillingUnderTest;
let database: Database;
let ada: Tenant;

beforeAll(async () => {
  service = await startInterface({ SOURCE_X_TOKEN: 'x' });
  billing = await connectBilling(service.stores.natsUrl);
  database = await openDatabase(service.stores.databaseUrl, 'spec');
  ada = await service.tenant();
});
afterAll(async () => {
  await database?.destroy();
  await billing?.stop();
  await service?.stop();
});

const made = async (more: object = {}): Promise<Json> =>
  (await ada.api.post('/v1/keywords', keywordBody(more as Record<string, unknown>))).body;
const quote = (keyword: Json, query = '', as = ada) => as.api.get(`/v1/keywords/${keyword.id}/quote${query}`);

/** Moves the keyword's periods back by this number of days. */
async function moveBack(keyword: Json, days: number): Promise<void> {
  await database.query(
    `UPDATE quoted_periods SET from_at = from_at - make_interval(days => $2), to_at = to_at - make_interval(days => $2)
     WHERE keyword_id = $1`,
    [keyword.id, days],
  );
}

describe('a keyword’s quote', () => {
  it('is returned with the charges, per source and UTC day', async () => {
    const keyword = await made({
      refresh_interval_seconds: 1800,
      sources: [
        { source: 'hackernews', enabled: true },
        { source: 'x', enabled: true },
      ],
    });
    await moveBack(keyword, 3);
    const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    for (const [source, credits] of [
      ['hackernews', 1],
      ['hackernews', 1],
      ['x', 5],
    ] as const)
      await billing.spend(ada.accountId, credits, {
        keywordId: keyword.id,
        source,
        finishedAt: `${day(1)}T12:00:00.000Z`,
      });
    await until('all checks are charged', async () => (await quote(keyword)).body.chargedCredits === 7);
    const { status, body } = await quote(keyword, `?since=${day(2)}T00:00:00Z&until=${day(0)}T00:00:00Z`);
    const full = (source: string, back: number, charged: [checks: number, credits: number]) => ({
      date: day(back),
      quotedChecks: 48,
      quotedCredits: 48 * (source === 'x' ? 5 : 1),
      chargedChecks: charged[0],
      chargedCredits: charged[1],
    });
    expect([status, body]).toEqual([
      200,
      {
        keywordId: keyword.id,
        priceBookVersion: PRICE_BOOK_VERSION,
        monthlyCredits: 1440 * 6,
        since: `${day(2)}T00:00:00.000Z`,
        until: `${day(0)}T00:00:00.000Z`,
        quotedCredits: 2 * 48 * 6,
        chargedCredits: 7,
        bySource: [
          {
            source: 'hackernews',
            quotedCredits: 96,
            chargedCredits: 2,
            days: [full('hackernews', 2, [0, 0]), full('hackernews', 1, [2, 2])],
          },
          {
            source: 'x',
            quotedCredits: 480,
            chargedCredits: 5,
            days: [full('x', 2, [0, 0]), full('x', 1, [1, 5])],
          },
        ],
      },
    ]);
  });

  it('counts only the time in which the keyword ran, with the interval at that time', async () => {
    const keyword = await made({ refresh_interval_seconds: 3600 });
    await moveBack(keyword, 1);
    // The keyword has run for a day. Now it is paused; afterwards it runs twice as often.
    await ada.api.post(`/v1/keywords/${keyword.id}/pause`, {});
    const paused = (await quote(keyword)).body.quotedCredits;
    // One check at the beginning, 24 in the day, and one for the hour that has begun.
    expect(paused).toBe(26);
    await moveBack(keyword, 1);
    await ada.api.post(`/v1/keywords/${keyword.id}/resume`, {});
    await ada.api.patch(`/v1/keywords/${keyword.id}`, { refreshIntervalSeconds: 1800 });
    await moveBack(keyword, 1);
    await ada.api.delete(`/v1/keywords/${keyword.id}`);
    const periods: Json[] = await database.query(
      `SELECT interval_seconds AS interval, round(extract(epoch FROM to_at - from_at) / 3600)::int AS hours
       FROM quoted_periods WHERE keyword_id = $1 AND to_at - from_at > interval '1 minute' ORDER BY from_at`,
      [keyword.id],
    );
    expect(periods).toEqual([
      { interval: 3600, hours: 24 },
      { interval: 1800, hours: 24 },
    ]);
  });

  it('adds no check for a pause or a change, and counts every check at its price', async () => {
    const keyword = await made({
      refresh_interval_seconds: 86_400,
      sources: [{ source: 'x', enabled: true }],
    });
    for (let n = 1; n <= 5; n += 1) {
      await ada.api.post(`/v1/keywords/${keyword.id}/pause`, {});
      await ada.api.post(`/v1/keywords/${keyword.id}/resume`, {});
      await ada.api.patch(`/v1/keywords/${keyword.id}`, { refreshIntervalSeconds: 86_400 - n });
    }
    const { bySource } = (await quote(keyword)).body;
    const [{ days, ...x }] = bySource;
    expect(x).toEqual({ source: 'x', quotedCredits: 10, chargedCredits: 0 });
    // The first check, and one for the interval that has begun.
    expect(days.reduce((sum: number, day: Json) => sum + day.quotedChecks, 0)).toBe(2);
    for (const day of days) expect(day.quotedCredits).toBe(5 * day.quotedChecks);
  });

  it('accepts `since` and `until`, and refuses a `since` that is later than `until`', async () => {
    const keyword = await made();
    const answer = await quote(keyword, '?since=2026-03-02T00:00Z&until=2026-03-01T00:00Z');
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'since' }] } });
    expect((await quote(keyword, '?since=2020-01-01&until=2020-02-01')).body).toMatchObject({
      quotedCredits: 0,
      chargedCredits: 0,
      bySource: [],
    });
  });

  it('returns 404 for another account', async () => {
    const eve = await service.tenant();
    expect((await quote(await made(), '', eve)).status).toBe(404);
    expect((await quote({ id: 'nope' })).status).toBe(404);
  });
});

describe('the monthly credits of a keyword', () => {
  it('are in the keyword object, and change with the keyword [keywords.object]', async () => {
    const keyword = await made({ refresh_interval_seconds: 3600 });
    expect(keyword.monthlyCredits).toBe(720);
    const faster = await ada.api.patch(`/v1/keywords/${keyword.id}`, { refreshIntervalSeconds: 1800 });
    expect(faster.body.monthlyCredits).toBe(1440);
    const off = await ada.api.patch(`/v1/keywords/${keyword.id}`, {
      sources: [{ source: 'hackernews', enabled: false }],
    });
    expect(off.body.monthlyCredits).toBe(0);
  });
});
