import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { CheckSchema, EngagementSchema, PRICE_BOOK_VERSION } from '#contracts';
import { checkIdOf } from '#kernel';
import { UpstreamError } from '#sources';
import { failedCheck, unpaidCheck } from './build-checks.js';
import {
  NOW,
  HOUR,
  iso,
  watchOf,
  searchOf,
  itemOf,
  check,
  reported,
  remembered,
} from '../testing/built-checks.js';

describe('the check of one watch', () => {
  it('states its times, its match mode and its cost', () => {
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
    'costs the rate of %s for each unit that the source reports: %j [credits.rates, credits.ai-answers]',
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

  it('never costs more than was reserved, even if the connector states more', () => {
    const [one] = check(watchOf(), [], [], searchOf('ai_answers'), { units: 4 });
    expect([one?.units, one?.costCredits]).toEqual([3, 15]);
    const first = watchOf({ baselineAt: undefined, backfill: true });
    const items = ['a', 'b', 'c', 'd', 'e'].map((id) => itemOf(id));
    const [scan] = check(first, items, [], searchOf('x'));
    expect([scan?.units, scan?.costCredits, scan?.items.length]).toEqual([4, 4, 5]);
  });

  it('states the needed credits, costs nothing and keeps its tick if the account cannot pay', () => {
    const one = unpaidCheck(searchOf('x'), watchOf(), { needed: 5, available: 3 }, new Date(NOW));
    expect(one).toMatchObject({
      checkId: checkIdOf(watchOf().watchId, iso(NOW - 1000)),
      costCredits: 0,
      units: 0,
      failure: {
        kind: 'insufficient_credits',
        reason: 'x was not read: the check can cost 5 credits, and 3 of the account’s credits are available',
        creditsNeeded: 5,
        retryAt: '',
      },
    });
  });

  it('costs credits for each item in a first scan on x with backfill, and the usual rate without backfill [credits.x-first-scan, estimate.x-first-scan]', () => {
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

  it('contains the observations, in as many parts as their size needs', () => {
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

  it('leaves out an item that cannot be stored, states the number of such items, and keeps the other items', () => {
    const broken = itemOf('hn:1');
    Object.assign(broken.item, { engagement: create(EngagementSchema, { likes: 1.5 }) });
    const tooLarge = itemOf('hn:2', { text: 'x'.repeat(600 * 1024) });
    const parts = check(watchOf(), [broken, tooLarge, itemOf('hn:3')]);
    expect(reported(parts)).toEqual(['hn:3']);
    expect(parts[0]?.warnings).toContain('2 of 3 new items could not be stored and were left out');
  });

  it('shortens an observation that is too large for a message', () => {
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
          expect(reported(parts)).toEqual(baseline ? [] : freshIds.toReversed());
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

  it('states the reason, is free and has no end of its window if it failed [credits.failed-check]', () => {
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
