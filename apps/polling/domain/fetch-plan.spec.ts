import fc from 'fast-check';
import { planFetch, type FetchPlan, type PlannedSearch } from './fetch-plan.js';

const search = fc.record(
  {
    requests: fc.integer({ min: 1, max: 5 }),
    feedable: fc.boolean(),
    windowSeconds: fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
  },
  { requiredKeys: ['requests', 'feedable'] },
);
const due = fc.array(search, { maxLength: 30 }).map((searches): PlannedSearch[] =>
  searches.map(({ requests, feedable, windowSeconds }, n) => ({
    searchKey: `s${n}`,
    requests,
    feedable,
    ...(windowSeconds === undefined ? {} : { windowSeconds }),
  })),
);
/** Makes functions that return how many pages of a feed must be read, if the feed publishes 1 to 40 pages per hour. */
const feed = fc
  .integer({ min: 1, max: 40 })
  .map((perHour) => (seconds: number) => Math.max(1, Math.ceil((seconds * perHour) / 3600)));

function costOf(
  plan: FetchPlan,
  searches: readonly PlannedSearch[],
  pagesFor: (seconds: number) => number,
): number {
  const byKey = new Map(searches.map((one) => [one.searchKey, one]));
  const longest = Math.max(0, ...plan.feed.map((key) => byKey.get(key)?.windowSeconds ?? 0));
  const singles = plan.single.reduce((sum, key) => sum + (byKey.get(key)?.requests ?? 0), 0);
  return singles + (plan.feed.length > 0 ? pagesFor(longest) : 0);
}

const eligible = (one: PlannedSearch) => one.feedable && one.windowSeconds !== undefined;

describe('the plan of reads', () => {
  it('serves each search exactly once', () => {
    fc.assert(
      fc.property(due, feed, (searches, pagesFor) => {
        const { feed: fed, single } = planFetch(searches, pagesFor);
        expect([...fed, ...single].sort()).toEqual(searches.map((one) => one.searchKey).sort());
      }),
    );
  });

  it('assigns to the feed only searches that the feed can serve', () => {
    fc.assert(
      fc.property(due, feed, (searches, pagesFor) => {
        const { feed: fed } = planFetch(searches, pagesFor);
        for (const one of searches) if (fed.includes(one.searchKey)) expect(eligible(one)).toBe(true);
      }),
    );
  });

  it('never costs more requests than a plan without the feed, or a plan that uses the feed wherever possible', () => {
    fc.assert(
      fc.property(due, feed, (searches, pagesFor) => {
        const cost = costOf(planFetch(searches, pagesFor), searches, pagesFor);
        const all = searches.map((one) => one.searchKey);
        const fed = searches.filter(eligible).map((one) => one.searchKey);
        expect(cost).toBeLessThanOrEqual(costOf({ feed: [], single: all }, searches, pagesFor));
        expect(cost).toBeLessThanOrEqual(
          costOf({ feed: fed, single: all.filter((key) => !fed.includes(key)) }, searches, pagesFor),
        );
      }),
    );
  });

  it('costs no more than any other assignment of searches to the feed', () => {
    fc.assert(
      fc.property(
        due.filter((searches) => searches.length <= 8),
        feed,
        (searches, pagesFor) => {
          const cost = costOf(planFetch(searches, pagesFor), searches, pagesFor);
          const candidates = searches.filter(eligible);
          for (let chosen = 0; chosen < 2 ** candidates.length; chosen += 1) {
            const fed = candidates.filter((_, n) => chosen & (1 << n)).map((one) => one.searchKey);
            const single = searches.map((one) => one.searchKey).filter((key) => !fed.includes(key));
            expect(cost).toBeLessThanOrEqual(costOf({ feed: fed, single }, searches, pagesFor));
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('does not use a feed if the source has none', () => {
    fc.assert(
      fc.property(due, (searches) => {
        expect(planFetch(searches)).toEqual({ feed: [], single: searches.map((one) => one.searchKey) });
      }),
    );
  });
});
