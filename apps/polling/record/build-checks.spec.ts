import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  CheckSchema,
  CriteriaSchema,
  EngagementSchema,
  ItemSchema,
  PRICE_BOOK_VERSION,
  type Check,
} from '#contracts';
import { checkIdOf } from '#kernel';
import { UpstreamError, type Fetched } from '#sources';
import { completedCheck, failedCheck, unpaidCheck, type PricedCheck } from './build-checks.js';
import type { MatchedAnswer } from './new-items.js';
import { checkPriceOf } from '../read/check-price.js';
import type { DueSearch, DueWatch } from '../due/due-work.js';

const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const HOUR = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

function watchOf(more: Partial<DueWatch> = {}): DueWatch {
  return {
    watchId: '0190a0b0-0000-7000-8000-000000000001',
    searchKey: 'hackernews:abc',
    accountId: '0190a0b0-0000-7000-8000-000000000002',
    keywordId: '',
    searchId: '',
    intervalSeconds: 600,
    backfill: false,
    baselineAt: NOW - HOUR,
    coveredUntil: NOW - HOUR,
    tick: NOW - 1000,
    checkSeq: 0,
    ...more,
  };
}

function searchOf(source: DueSearch['source'] = 'hackernews'): DueSearch {
  return {
    searchKey: `${source}:abc`,
    claim: '',
    source,
    criteria: create(CriteriaSchema, { query: 'acme' }),
    match: 'word',
    state: {},
    stateAt: undefined,
    failures: 0,
    shortestSeconds: 600,
    watches: [],
  };
}

/** For a connector with three priced parts and at most four items in a first scan. */
function pricedOf(search: DueSearch, watch: DueWatch): PricedCheck {
  const connector = { unitsPerCheck: () => 3, itemsPerFirstScan: () => 4 };
  return { search, watch, price: checkPriceOf(connector, search, watch), matchMode: search.match };
}

function itemOf(
  itemId: string,
  more: { publishedAt?: string; happenedAt?: string; text?: string; source?: string } = {},
): MatchedAnswer {
  return { item: create(ItemSchema, { itemId, source: 'hackernews', ...more }), matches: [] };
}

function check(
  watch: DueWatch,
  matched: readonly MatchedAnswer[],
  seen: readonly string[] = [],
  search = searchOf(),
  more: Partial<Fetched> = {},
  clockAheadMs = 0,
): Check[] {
  const items = matched.map(({ item }) => item);
  const fetched = { items, gap: true, warnings: ['one feed is gone'], ...more };
  const answer = {
    kind: 'read' as const,
    fetched,
    state: {},
    readAt: new Date(NOW),
    windowFrom: new Date(NOW - HOUR),
    clockAheadMs,
  };
  return completedCheck(pricedOf(search, watch), answer, matched, new Set(seen), new Date(NOW + 500));
}

const reported = (parts: readonly Check[]) =>
  parts.flatMap(({ items }) => items.map(({ item }) => item?.itemId));
const backfilled = (parts: readonly Check[]) =>
  parts.flatMap(({ items }) => items.flatMap((one) => (one.backfilled ? [one.item?.itemId] : [])));
const remembered = (parts: readonly Check[]) => parts.flatMap(({ rememberedItemIds }) => rememberedItemIds);

describe('the check of one watch', () => {
  it('states its criteria, its time and its cost', () => {
    const [one, ...others] = check(watchOf(), [itemOf('hn:1')]);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      checkId: checkIdOf(watchOf().watchId, iso(NOW - 1000)),
      tick: iso(NOW - 1000),
      finishedAt: iso(NOW + 500),
      windowFrom: iso(NOW - HOUR),
      windowTo: iso(NOW),
      part: 1,
      parts: 1,
      baseline: false,
      costCredits: 1,
      itemsSeen: 1,
      matchMode: 'word',
      gap: true,
      warnings: ['one feed is gone'],
    });
    expect(one?.failure).toBeUndefined();
  });

  it.each([
    ['reddit', {}, 1, 2],
    ['ai_answers', { units: 3 }, 3, 15],
    ['x', {}, 1, 5],
  ] as const)(
    'is priced at the rate of %s, by the parts that answered: %j [credits.rates, credits.ai-answers]',
    (source, more, units, cost) => {
      const [one] = check(watchOf(), [itemOf('a'), itemOf('b')], [], searchOf(source), more);
      expect([one?.units, one?.costCredits, one?.criteriaHash]).toEqual([units, cost, 'abc']);
      expect([one?.rateCredits, one?.priceBookVersion, one?.firstScan]).toEqual([
        cost / units,
        PRICE_BOOK_VERSION,
        false,
      ]);
    },
  );

  it('costs no more than was reserved, whatever the connector states', () => {
    const [one] = check(watchOf(), [], [], searchOf('ai_answers'), { units: 4 });
    expect([one?.units, one?.costCredits]).toEqual([3, 15]);
    const first = watchOf({ baselineAt: undefined, backfill: true });
    const items = ['a', 'b', 'c', 'd', 'e'].map((id) => itemOf(id));
    const [scan] = check(first, items, [], searchOf('x'));
    expect([scan?.units, scan?.costCredits, scan?.items.length]).toEqual([4, 4, 5]);
  });

  it('that its account cannot pay states the needed credits, costs nothing and keeps its tick', () => {
    const one = unpaidCheck(searchOf('x'), watchOf(), { needed: 5, available: 3 }, new Date(NOW));
    expect(one).toMatchObject({
      checkId: checkIdOf(watchOf().watchId, iso(NOW - 1000)),
      costCredits: 0,
      units: 0,
      failure: {
        kind: 'insufficient_credits',
        reason: 'x was not read: the check can cost 5 credits, and 3 of the account’s credits are free',
        creditsNeeded: 5,
        retryAt: '',
      },
    });
  });

  it('of a first scan on x costs the returned items with backfill, and the usual rate without [credits.x-first-scan, estimate.x-first-scan]', () => {
    const first = watchOf({ baselineAt: undefined, backfill: true });
    const items = [itemOf('a'), itemOf('b'), itemOf('c')];
    expect(check(first, items, [], searchOf('x'))[0]).toMatchObject({
      costCredits: 3,
      rateCredits: 1,
      units: 3,
      firstScan: true,
    });
    expect(check(first, [], [], searchOf('x'))[0]?.costCredits).toBe(0);
    expect(check({ ...first, backfill: false }, items, [], searchOf('x'))[0]?.costCredits).toBe(5);
    expect(check(first, items, [], searchOf('vinted'))[0]?.costCredits).toBe(2);
  });

  it('leaves out items whose event was observed before the watch began, to the millisecond, with and without backfill', () => {
    const at = NOW - HOUR;
    const items = [itemOf('new', { happenedAt: iso(at + 1) }), itemOf('old', { happenedAt: iso(at) })];
    for (const backfill of [false, true]) {
      const parts = check(watchOf({ backfill }), items);
      expect([reported(parts), remembered(parts)]).toEqual([['new'], ['old']]);
    }
  });

  it('contains the observations, in as many parts as they need', () => {
    const observations = Array.from({ length: 4_000 }, (_, n) => ({
      kind: { case: 'listing' as const, value: { listingId: String(n), title: 'x'.repeat(300) } },
    }));
    const parts = check(watchOf(), [itemOf('a')], [], searchOf('vinted'), { observations });
    expect(parts.length).toBe(3);
    for (const part of parts) expect(toBinary(CheckSchema, part).length).toBeLessThan(600 * 1024);
    const ids = parts.flatMap(({ observations: some }) =>
      some.map(({ kind }) => (kind.case === 'listing' ? kind.value.listingId : '')),
    );
    expect(ids).toEqual(observations.map(({ kind }) => kind.value.listingId));
    expect(parts.map(({ costCredits }) => costCredits)).toEqual([0, 0, 2]);
    expect(parts.map(({ rateCredits, units }) => [rateCredits, units])).toEqual([
      [0, 0],
      [0, 0],
      [2, 1],
    ]);
  });

  it('reports items that the watch has not seen, and nothing twice', () => {
    const parts = check(watchOf(), [itemOf('hn:3'), itemOf('hn:2'), itemOf('hn:1')], ['hn:2']);
    expect([reported(parts), remembered(parts)]).toEqual([['hn:3', 'hn:1'], []]);
  });

  it('only remembers the items at the first check; more items are not a gap [keywords.backfill]', () => {
    const parts = check(watchOf({ baselineAt: undefined }), [itemOf('hn:1'), itemOf('hn:2')]);
    expect([reported(parts), remembered(parts)]).toEqual([[], ['hn:1', 'hn:2']]);
    expect(parts[0]).toMatchObject({ baseline: true, gap: false, costCredits: 1 });
  });

  it('with backfill, reports all items at the first check, however old [keywords.backfill]', () => {
    const parts = check(watchOf({ baselineAt: undefined, backfill: true }), [
      itemOf('hn:1', { publishedAt: iso(0) }),
    ]);
    expect([reported(parts), remembered(parts), parts[0]?.baseline]).toEqual([['hn:1'], [], true]);
  });

  const dates = (baselineAt: number) => [
    itemOf('hn:new', { publishedAt: iso(baselineAt + 1) }),
    itemOf('hn:same second', { publishedAt: iso(Math.floor(baselineAt / 1000) * 1000) }),
    itemOf('hn:edge', { publishedAt: iso(baselineAt - 1001) }),
    itemOf('hn:old', { publishedAt: iso(0) }),
    itemOf('hn:undated'),
  ];

  it('reports items without a date, and none that were published before the baseline [keywords.backfill]', () => {
    const baselineAt = NOW - HOUR + 1;
    const parts = check(watchOf({ baselineAt }), dates(baselineAt));
    expect(reported(parts)).toEqual(['hn:new', 'hn:same second', 'hn:undated']);
    expect(remembered(parts)).toEqual(['hn:edge', 'hn:old']);
    expect(backfilled(parts)).toEqual([]);
  });

  it('with backfill, keeps and marks items that were published before the baseline [keywords.backfill]', () => {
    const baselineAt = NOW - HOUR + 1;
    const parts = check(watchOf({ baselineAt, backfill: true }), dates(baselineAt));
    expect([reported(parts).length, remembered(parts)]).toEqual([5, []]);
    expect(backfilled(parts)).toEqual(['hn:edge', 'hn:old']);
  });

  it.each([120_000, -120_000])(
    'compares dates by the platform’s own clock, which is ahead by %i ms',
    (ahead) => {
      const baselineAt = NOW - HOUR;
      const found = [
        itemOf('hn:after', { publishedAt: iso(baselineAt + ahead + 1) }),
        itemOf('hn:before', { publishedAt: iso(baselineAt + ahead - 1) }),
      ];
      expect(reported(check(watchOf({ baselineAt }), found, [], searchOf(), {}, ahead))).toEqual([
        'hn:after',
      ]);
    },
  );

  it('reports an article that the baseline lacked unless its date is more than 24 hours before the baseline', () => {
    const baselineAt = NOW - HOUR;
    const found = [
      itemOf('rss:yesterday', { source: 'rss', publishedAt: iso(baselineAt - 24 * HOUR) }),
      itemOf('rss:before', { source: 'rss', publishedAt: iso(baselineAt - 24 * HOUR - 1) }),
    ];
    const parts = check(watchOf({ baselineAt }), found, [], searchOf('rss'));
    expect([reported(parts), remembered(parts)]).toEqual([['rss:yesterday'], ['rss:before']]);
  });

  it.each([
    ['', watchOf()],
    [' of a first check with backfill', watchOf({ baselineAt: undefined, backfill: true })],
  ])('keeps the newest 1,000 items%s, reports that there were more, and remembers the others', (_, watch) => {
    const found = Array.from({ length: 1_234 }, (__, n) => itemOf(`hn:${n}`));
    const parts = check(watch, found);
    const ids = found.map(({ item }) => item.itemId);
    expect(reported(parts)).toEqual(ids.slice(0, 1_000));
    expect(remembered(parts)).toEqual(ids.slice(1_000));
    expect(parts[0]?.warnings[0]).toMatch(/^1234 items matched.*the newest 1000 were kept/);
  });

  it('remembers the archive of a feed that responds to a watch for the first time, and reports what is new', () => {
    const minute = (n: number) => NOW - HOUR + n * 60_000;
    const outages = new Map(
      ['rss:old', 'rss:undated', 'rss:new'].map((id) => [
        id,
        { from: new Date(minute(0)), until: new Date(minute(30)) },
      ]),
    );
    const matched = [
      itemOf('rss:old', { source: 'rss', publishedAt: iso(minute(-10)) }),
      itemOf('rss:undated', { source: 'rss' }),
      itemOf('rss:new', { source: 'rss', publishedAt: iso(minute(5)) }),
      itemOf('rss:other', { source: 'rss', publishedAt: iso(minute(-10)) }),
    ];
    const found = (more: Partial<DueWatch>) => {
      const fetched = { items: [], gap: false, warnings: [], outages };
      const answer = {
        kind: 'read' as const,
        fetched,
        state: {},
        readAt: new Date(NOW),
        windowFrom: undefined,
        clockAheadMs: 0,
      };
      const watch = watchOf({ baselineAt: minute(0), coveredUntil: minute(20), ...more });
      const priced = pricedOf(searchOf('rss'), watch);
      const parts = completedCheck(priced, answer, matched, new Set(), new Date(NOW));
      return { ids: reported(parts), old: backfilled(parts) };
    };
    const all = ['rss:old', 'rss:undated', 'rss:new', 'rss:other'];
    expect(found({}).ids).toEqual(['rss:new', 'rss:other']);
    expect(found({ baselineAt: minute(-1) }).ids).toEqual(all);
    expect(found({ coveredUntil: minute(30) }).ids).toEqual(all);
    expect(found({ backfill: true })).toEqual({ ids: all, old: ['rss:old', 'rss:undated'] });
  });

  it('leaves out an item that cannot be stored, counts it, and keeps the others', () => {
    const broken = itemOf('hn:1');
    Object.assign(broken.item, { engagement: create(EngagementSchema, { likes: 1.5 }) });
    const tooLarge = itemOf('hn:2', { text: 'x'.repeat(600 * 1024) });
    const parts = check(watchOf(), [broken, tooLarge, itemOf('hn:3')]);
    expect(reported(parts)).toEqual(['hn:3']);
    expect(parts[0]?.warnings).toContain('2 of 3 new items could not be stored and were left out');
  });

  it('shortens an observation that no message could contain', () => {
    const value = { engine: 'openai', text: 'x'.repeat(2 * 1024 * 1024) };
    const parts = check(watchOf(), [], [], searchOf('ai_answers'), {
      observations: [{ kind: { case: 'answer' as const, value } }],
    });
    const kept = parts.flatMap(({ observations }) => observations).map(({ kind }) => kind);
    expect(kept).toMatchObject([{ case: 'answer', value: { engine: 'openai' } }]);
    for (const part of parts) expect(toBinary(CheckSchema, part).length).toBeLessThan(600 * 1024);
  });

  it('limits the length of its notes and its reason', () => {
    const long = 'x'.repeat(1024 * 1024);
    const [one] = check(watchOf(), [], [], searchOf(), { warnings: Array.from({ length: 500 }, () => long) });
    expect(one && toBinary(CheckSchema, one).length).toBeLessThan(64 * 1024);
    expect(one?.warnings.at(-1)).toBe('and 470 more notes');
    const failed = failedCheck(
      searchOf(),
      watchOf(),
      new UpstreamError('gone', long),
      undefined,
      new Date(NOW),
    );
    expect(toBinary(CheckSchema, failed).length).toBeLessThan(16 * 1024);
  });

  it('is split if it is large: nothing is lost or reported twice, and only the last part is charged', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 25 }),
        fc.integer({ min: 0, max: 3000 }),
        fc.boolean(),
        (kilobytes, old, baseline) => {
          const fresh = kilobytes.map((size, n) => itemOf(`hn:${n}`, { text: 'x'.repeat(size * 1024) }));
          const past = Array.from({ length: old }, (_, n) =>
            itemOf(`hn:old ${n} ${'y'.repeat(500)}`, { publishedAt: iso(0) }),
          );
          const parts = check(watchOf(baseline ? { baselineAt: undefined } : {}), [...fresh, ...past]);
          const freshIds = fresh.map(({ item }) => item.itemId);
          const oldIds = past.map(({ item }) => item.itemId);
          expect(reported(parts)).toEqual(baseline ? [] : freshIds);
          expect(remembered(parts)).toEqual(baseline ? [...freshIds, ...oldIds] : oldIds);
          expect(parts.map(({ part }) => part)).toEqual(parts.map((_, n) => n + 1));
          expect(parts.map(({ costCredits, warnings }) => [costCredits, warnings.length])).toEqual(
            parts.map((_, n) => [n === parts.length - 1 ? 1 : 0, n === 0 ? 1 : 0]),
          );
          for (const part of parts) {
            expect(part).toMatchObject({ checkId: parts[0]?.checkId, parts: parts.length, baseline });
            expect(toBinary(CheckSchema, part).length).toBeLessThan(800 * 1024);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('that failed has the reason, is free and moves no window [credits.failed-check]', () => {
    const error = new UpstreamError('rate_limited', 'hackernews answered 429', 429, 7000);
    const failed = failedCheck(searchOf(), watchOf(), error, new Date(NOW + 7000), new Date(NOW));
    expect(failed).toMatchObject({
      checkId: checkIdOf(watchOf().watchId, iso(NOW - 1000)),
      costCredits: 0,
      items: [],
      rememberedItemIds: [],
      windowTo: '',
      failure: {
        kind: 'rate_limited',
        reason: 'hackernews answered 429',
        statusCode: 429,
        retryAt: iso(NOW + 7000),
      },
    });
  });
});
