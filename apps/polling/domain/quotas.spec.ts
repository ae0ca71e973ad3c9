import fc from 'fast-check';
import { Quotas } from './quotas.js';

const DAY = 86_400_000;
const midnightUtc = (now: Date) => new Date((Math.floor(now.getTime() / DAY) + 1) * DAY);
const QUOTAS = { search: { points: 100, nextReset: midnightUtc } };

describe('daily quotas', () => {
  it('never allow more points per day than the quota has, and give each lane its share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(
          fc.record({ points: fc.integer({ min: 1, max: 60 }), at: fc.integer({ min: 0, max: 3 * DAY }) }),
        ),
        (lanes, requests) => {
          const quotas = new Quotas(QUOTAS, lanes);
          const byDay = new Map<number, number>();
          for (const { points, at } of requests.toSorted((a, b) => a.at - b.at)) {
            const refusedUntil = quotas.take('search', points, new Date(at));
            const day = Math.floor(at / DAY);
            const spent = byDay.get(day) ?? 0;
            if (refusedUntil) {
              expect(spent + points).toBeGreaterThan(100 / lanes);
              expect(refusedUntil.getTime()).toBe((day + 1) * DAY);
            } else byDay.set(day, spent + points);
          }
          for (const spent of byDay.values()) expect(spent).toBeLessThanOrEqual(100 / lanes);
        },
      ),
    );
  });

  it('are used up if the upstream says so, until the time that the upstream states', () => {
    const quotas = new Quotas(QUOTAS, 1);
    quotas.exhaust('search', new Date(5_000));
    quotas.exhaust('search', new Date(3_000));
    expect(quotas.take('search', 1, new Date(4_999))).toEqual(new Date(5_000));
    expect(quotas.take('search', 1, new Date(5_000))).toBeUndefined();
  });

  it('keep the used points over a restart', () => {
    const first = new Quotas(QUOTAS, 1);
    first.take('search', 99, new Date(0));
    const second = new Quotas(QUOTAS, 1, first.state);
    expect(second.take('search', 2, new Date(1))).toEqual(new Date(DAY));
    expect(second.take('search', 1, new Date(1))).toBeUndefined();
  });

  it('do not limit requests without a quota', () => {
    expect(new Quotas(QUOTAS, 1).take('other', 1_000, new Date(0))).toBeUndefined();
  });
});
