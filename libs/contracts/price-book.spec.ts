import book from './price-book.json' with { type: 'json' };
import {
  creditsOfLookup,
  creditsPerCheck,
  creditsPerFirstScanItem,
  floorSeconds,
  isPlan,
  limitsOf,
  PLANS,
  PRICE_BOOK_VERSION,
} from './price-book.js';
import { SOURCE_IDS, type SourceId } from './sources.js';

const OPEN: SourceId[] = [
  'hackernews',
  'bluesky',
  'mastodon',
  'lemmy',
  'github',
  'producthunt',
  'stackoverflow',
  'rss',
  'reddit',
];
const SOLD = ['free', 'solo', 'growth', 'pro'] as const;

describe('the price book', () => {
  it('has a version, which is a date [credits.price-book]', () => {
    expect(PRICE_BOOK_VERSION).toBe(book.version);
    expect(PRICE_BOOK_VERSION).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('accepts the names of its plans, and refuses other names', () => {
    expect(PLANS.map((plan) => [plan, isPlan(plan)])).toEqual(PLANS.map((plan) => [plan, true]));
    expect(isPlan('gold')).toBe(false);
    expect(() => limitsOf('gold')).toThrow('the price book has no plan gold');
  });

  it('has the requests a minute of each sold plan [credits.plan-requests, limits.quota]', () => {
    expect(SOLD.map((plan) => limitsOf(plan).requestsPerMinute)).toEqual([60, 350, 700, 1200]);
  });

  it('has the keywords and search slots of each sold plan [credits.plan-keywords]', () => {
    expect(SOLD.map((plan) => [limitsOf(plan).keywords, limitsOf(plan).searchSlots])).toEqual([
      [2, 6],
      [10, 40],
      [30, 150],
      [100, 600],
    ]);
  });

  it('has the terms per search of each sold plan [credits.plan-terms]', () => {
    expect(SOLD.map((plan) => limitsOf(plan).termsPerSearch)).toEqual([5, 15, 30, 50]);
  });

  it('has the monthly credits of each sold plan [credits.plan-credits]', () => {
    expect(SOLD.map((plan) => limitsOf(plan).monthlyCredits)).toEqual([3_000, 60_000, 250_000, 1_000_000]);
  });

  it.each<[SourceId[], number[]]>([
    [OPEN, [3_600, 600, 120, 60]],
    [
      ['x', 'youtube', 'tiktok'],
      [21_600, 1_800, 600, 120],
    ],
    [['vinted'], [3_600, 600, 180, 60]],
    [['ai_answers'], [86_400, 86_400, 43_200, 21_600]],
  ])('has the shortest intervals of the sold plans for %j [credits.plan-floors]', (sources, floors) => {
    for (const source of sources) expect(SOLD.map((plan) => floorSeconds(plan, source))).toEqual(floors);
  });

  it('has a plan for self-hosted installations [credits.unlimited]', () => {
    expect(limitsOf('unlimited')).toMatchObject({
      monthlyCredits: 1_000_000_000,
      requestsPerMinute: 12_000,
      keywords: null,
      searchSlots: null,
      termsPerSearch: 50,
    });
    for (const source of SOURCE_IDS)
      expect(floorSeconds('unlimited', source)).toBe(source === 'ai_answers' ? 3_600 : 30);
  });

  it('replaces the shortest interval of the plan, for every source, with the one that the installation sets', () => {
    for (const source of SOURCE_IDS) expect(floorSeconds('free', source, 2)).toBe(2);
  });

  it('has the price of a check on every source [credits.rates, credits.ai-answers]', () => {
    const others: Partial<Record<SourceId, number>> = {
      reddit: 2,
      vinted: 2,
      youtube: 3,
      x: 5,
      tiktok: 5,
      ai_answers: 5,
    };
    for (const source of SOURCE_IDS) {
      expect([source, creditsPerCheck(source)]).toEqual([source, others[source] ?? 1]);
      const withBrands = creditsPerCheck(source) + (source === 'ai_answers' ? 2 : 0);
      expect([source, creditsPerCheck(source, true)]).toEqual([source, withBrands]);
    }
  });

  it('has a price for the items of a first scan only on x [credits.x-first-scan]', () => {
    for (const source of SOURCE_IDS)
      expect(creditsPerFirstScanItem(source)).toBe(source === 'x' ? 1 : undefined);
  });

  it('has the price of every lookup [credits.lookups, limits.tweets, limits.comments, limits.moderated]', () => {
    expect([0, 1, 100].map((found) => creditsOfLookup('x.tweets', found))).toEqual([1, 2, 101]);
    for (const page of ['x.user', 'x.userTweets', 'x.followers', 'x.following', 'reddit.moderated'])
      expect([page, creditsOfLookup(page, 7)]).toEqual([page, 3]);
    expect(creditsOfLookup('youtube.videoComments', 20)).toBe(5);
    expect(() => creditsOfLookup('x.likes', 1)).toThrow('no rate for the lookup x.likes');
  });
});
