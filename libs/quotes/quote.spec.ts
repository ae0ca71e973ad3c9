import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { CriteriaSchema, type SourceId } from '#contracts';
import { quotedByDay, wholeByDay, type QuotedPeriod } from './quoted-days.js';
import { checksPerMonth, priceOf, quoteOf, type QuotedSearch } from './quote.js';

const criteria = create(CriteriaSchema, { market: 'global', query: 'acme' });
const priced = (more: Partial<QuotedSearch>) => ({
  source: 'hackernews' as SourceId,
  criteria,
  intervalSeconds: 3600,
  coBrands: false,
  backfill: false,
  searchId: null,
  label: null,
  ...more,
});
/** Returns the priced parts of ai_answers with three engines and of x with one query. */
const partsOf = (source: SourceId) => ({
  ...(source === 'ai_answers' ? { unitsPerCheck: () => 3 } : {}),
  ...(source === 'x' ? { itemsPerFirstScan: () => 100 } : {}),
});
const price = (more: Partial<QuotedSearch>) => priceOf(priced(more), partsOf(more.source ?? 'hackernews'));

describe('the price of a search', () => {
  it.each<[SourceId, number]>([
    ['hackernews', 1],
    ['bluesky', 1],
    ['mastodon', 1],
    ['lemmy', 1],
    ['github', 1],
    ['producthunt', 1],
    ['stackoverflow', 1],
    ['rss', 1],
    ['reddit', 2],
    ['vinted', 2],
    ['youtube', 3],
    ['x', 5],
    ['tiktok', 5],
    ['ai_answers', 15],
  ])('on %s is %i credits a check [credits.rates, estimate.rate]', (source, creditsPerCheck) => {
    expect(price({ source })).toMatchObject({
      creditsPerCheck,
      checksPerMonth: 720,
      monthlyCredits: 720 * creditsPerCheck,
    });
  });

  it('adds 2 credits per engine, only on ai_answers, if the search names brands other than the subject [credits.ai-answers, estimate.ai-answers]', () => {
    expect(price({ source: 'ai_answers', coBrands: true }).creditsPerCheck).toBe(3 * (5 + 2));
    expect(price({ source: 'x', coBrands: true }).creditsPerCheck).toBe(5);
  });

  it('includes a first scan only with a backfill: one check, or on x every tweet that can be returned [estimate.x-first-scan, estimate.first-scan]', () => {
    expect(price({}).firstScanCredits).toBe(0);
    expect(price({ backfill: true }).firstScanCredits).toBe(1);
    expect(price({ source: 'ai_answers', backfill: true }).firstScanCredits).toBe(15);
    expect(price({ source: 'x', backfill: true }).firstScanCredits).toBe(100);
  });
});

describe('a month of checks', () => {
  it('has 30 days, and counts every check that begins in it [credits.month]', () => {
    expect(checksPerMonth(1)).toBe(2_592_000);
    expect(checksPerMonth(2_592_000)).toBe(1);
    expect(checksPerMonth(2_592_001)).toBe(1);
    expect(checksPerMonth(7)).toBe(370_286);
  });

  it('has the smallest number of checks that covers 30 days', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 31_536_000 }), (interval) => {
        const checks = checksPerMonth(interval);
        expect(checks * interval).toBeGreaterThanOrEqual(2_592_000);
        expect((checks - 1) * interval).toBeLessThan(2_592_000);
      }),
    );
  });
});

const search = fc
  .record({
    source: fc.constantFrom<SourceId>('hackernews', 'x', 'reddit', 'youtube', 'ai_answers', 'vinted'),
    coBrands: fc.boolean(),
    backfill: fc.boolean(),
  })
  .map((given) => priced({ ...given, intervalSeconds: INTERVALS[given.source] ?? 600 }));
/** All searches of a source have the same interval. */
const INTERVALS: Partial<Record<SourceId, number>> = { hackernews: 60, x: 1800, reddit: 3601, vinted: 999 };

describe('a quote', () => {
  it('has the same sum by search, by source and in total', () => {
    fc.assert(
      fc.property(fc.array(search, { maxLength: 12 }), (searches) => {
        const quote = quoteOf(searches, partsOf);
        const sum = (rows: { [key: string]: unknown }[], key: string) =>
          rows.reduce((total, row) => total + (row[key] as number), 0);
        for (const key of ['monthlyCredits', 'checksPerMonth'] as const) {
          expect(sum(quote.bySearch, key)).toBe(quote[key]);
          expect(sum(quote.bySource, key)).toBe(quote[key]);
        }
        for (const row of quote.bySearch)
          expect(row.monthlyCredits).toBe(row.creditsPerCheck * row.checksPerMonth);
        expect(sum(quote.bySource, 'searches')).toBe(searches.length);
        expect(quote.firstScanCredits).toBe(
          searches.reduce((total, one) => total + priceOf(one, partsOf(one.source)).firstScanCredits, 0),
        );
      }),
    );
  });

  it('is zero without searches', () => {
    expect(quoteOf([], partsOf)).toEqual({
      monthlyCredits: 0,
      checksPerMonth: 0,
      bySource: [],
      bySearch: [],
      firstScanCredits: 0,
    });
  });
});

describe('the quote of a day', () => {
  const at = (text: string) => Date.parse(`2026-03-${text}Z`);
  const period = (more: Partial<QuotedPeriod>): QuotedPeriod => ({
    watchId: 'w',
    source: 'x',
    from: at('04T00:00'),
    to: undefined,
    previousTo: undefined,
    intervalSeconds: 3600,
    creditsPerCheck: 5,
    firstScanCredits: 0,
    ...more,
  });

  it('is one check at the start, and one for each interval while the watch ran', () => {
    const periods = [period({ from: at('04T18:00'), to: at('05T06:00') })];
    expect(quotedByDay(periods, at('01T00:00'), at('09T00:00'))).toEqual([
      { source: 'x', date: '2026-03-04', checks: 7, credits: 35 },
      { source: 'x', date: '2026-03-05', checks: 6, credits: 30 },
    ]);
  });

  it('has the first scan on the first day, and counts only the requested period', () => {
    const periods = [period({ from: at('04T23:00'), firstScanCredits: 100 })];
    expect(quotedByDay(periods, at('04T00:00'), at('05T01:00'))).toEqual([
      { source: 'x', date: '2026-03-04', checks: 2, credits: 105 },
      { source: 'x', date: '2026-03-05', checks: 1, credits: 5 },
    ]);
    expect(quotedByDay(periods, at('05T00:00'), at('05T01:00'))).toEqual([
      { source: 'x', date: '2026-03-05', checks: 1, credits: 5 },
    ]);
  });

  it('has the same sum no matter how the time is divided into days', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000_000),
        fc.nat(10_000_000),
        fc.integer({ min: 1, max: 90_000 }),
        (from, length, interval) => {
          const start = at('01T00:00') + from * 100;
          const periods = [period({ from: start, to: start + length * 100, intervalSeconds: interval })];
          const days = quotedByDay(periods, 0, Number.MAX_SAFE_INTEGER);
          const checks = days.reduce((sum, day) => sum + day.checks, 0);
          expect(checks).toBeCloseTo(1 + (length * 100) / 1000 / interval, 6);
          expect(new Set(days.map(({ date }) => date)).size).toBe(days.length);
        },
      ),
    );
  });

  it('counts a pause as at most one check, and adds no check between two periods without a pause', () => {
    const daily = { intervalSeconds: 86_400 };
    const periods = [
      period({ ...daily, to: at('04T03:00') }),
      period({ ...daily, from: at('04T03:00'), to: at('04T06:00'), previousTo: at('04T03:00') }),
      period({ ...daily, from: at('04T12:00'), to: at('04T18:00'), previousTo: at('04T06:00') }),
      period({ ...daily, from: at('14T18:00'), to: at('15T00:00'), previousTo: at('04T18:00') }),
    ];
    expect(quotedByDay(periods, 0, at('20T00:00'))).toEqual([
      { source: 'x', date: '2026-03-04', checks: 1.75, credits: 8.75 },
      { source: 'x', date: '2026-03-14', checks: 1.25, credits: 6.25 },
    ]);
    expect(wholeByDay(periods, 0, at('20T00:00'))).toEqual([
      { source: 'x', date: '2026-03-04', checks: 2, credits: 10 },
      { source: 'x', date: '2026-03-14', checks: 1, credits: 5 },
    ]);
  });

  it('counts each whole check at its price, on the day on which the interval before the check begins', () => {
    const slow = { creditsPerCheck: 2, intervalSeconds: 2 * 86_400, to: at('09T00:00') };
    const periods = [
      period({ ...slow, from: at('04T12:00') }),
      period({ ...slow, watchId: 'other', from: at('05T00:00'), firstScanCredits: 30 }),
    ];
    const days = wholeByDay(periods, 0, at('20T00:00'));
    expect(days.map(({ date, checks, credits }) => [date, checks, credits])).toEqual([
      ['2026-03-04', 2, 4],
      ['2026-03-05', 2, 4 - 2 + 30],
      ['2026-03-06', 1, 2],
      ['2026-03-07', 1, 2],
      ['2026-03-08', 1, 2],
    ]);
  });

  it('counts as many whole checks as the whole period has, rounded up once per watch', () => {
    const interval = fc.integer({ min: 1, max: 900_000 });
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), interval, (from, length, intervalSeconds) => {
        const start = at('01T00:00') + from * 100;
        const end = start + length * 100;
        const days = wholeByDay([period({ from: start, to: end, intervalSeconds })], 0, end + 1);
        const checks = days.reduce((sum, day) => sum + day.checks, 0);
        expect(checks).toBe(1 + Math.ceil(Math.round((length * 1e5) / intervalSeconds) / 1e6));
        for (const day of days) expect(day.credits).toBe(5 * day.checks);
      }),
    );
  });
});
