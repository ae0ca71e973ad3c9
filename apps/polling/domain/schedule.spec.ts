import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDue, nextTick, phaseOf } from './schedule.js';

const now = fc.integer({ min: 0, max: 4e12 });
const intervalMs = fc.integer({ min: 1, max: 31_536_000 }).map((seconds) => seconds * 1000);

describe('the grid of ticks', () => {
  it('gives the first instant after now that is a whole number of intervals from the phase', () => {
    fc.assert(
      fc.property(now, intervalMs, fc.nat(), (at, interval, seed) => {
        const phase = seed % interval;
        const tick = nextTick(at, interval, phase);
        expect(tick).toBeGreaterThan(at);
        expect(tick - at).toBeLessThanOrEqual(interval);
        expect((tick - phase) % interval === 0).toBe(true);
      }),
    );
  });

  it('gives an instant on the grid its successor', () => {
    expect(nextTick(120_000, 60_000, 0)).toBe(180_000);
    expect(nextTick(119_999, 60_000, 0)).toBe(120_000);
    expect(nextTick(0, 60_000, 30_000)).toBe(30_000);
  });

  it('is the same for all late work of one interval', () => {
    fc.assert(
      fc.property(now, intervalMs, fc.nat(), (at, interval, late) => {
        const tick = nextTick(at, interval, 0);
        expect(nextTick(Math.min(at + (late % interval), tick - 1), interval, 0)).toBe(tick);
      }),
    );
  });

  it('makes every interval tick with each of its divisors', () => {
    expect(nextTick(3_599_999, 3_600_000, 0) % 60_000).toBe(0);
  });

  it('begins within the interval, always alike for one search, at 0 for searches that share requests', () => {
    fc.assert(
      fc.property(fc.string(), intervalMs, (key, interval) => {
        const phase = phaseOf(key, interval, false);
        expect(phase).toBeGreaterThanOrEqual(0);
        expect(phase).toBeLessThan(interval);
        expect(phaseOf(key, interval, false)).toBe(phase);
        expect(phaseOf(key, interval, true)).toBe(0);
      }),
    );
  });

  it('spreads searches over an interval', () => {
    const quarters = [0, 0, 0, 0];
    for (let n = 0; n < 1000; n += 1) {
      const quarter = Math.floor(phaseOf(`rss:${n}`, 3_600_000, false) / 900_000);
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    for (const count of quarters) expect(count).toBeGreaterThan(150);
  });
});

describe('a watch on a search that others watch too', () => {
  const seconds = fc.integer({ min: 1, max: 100_000 }).map((count) => count * 1000);

  it('is due on its own grid, or at the next read of its search at most a tenth of its interval later', () => {
    fc.assert(
      fc.property(now, seconds, seconds, fc.string(), fc.boolean(), (at, interval, shortest, key, grid) => {
        const tick = nextTick(at, interval, phaseOf(key, interval, grid));
        const due = nextDue(at, interval, shortest, key, grid);
        expect(due).toBeGreaterThanOrEqual(tick);
        expect(due - tick).toBeLessThanOrEqual(interval * 0.1);
        if (due > tick) expect((due - phaseOf(key, shortest, grid)) % shortest === 0).toBe(true);
      }),
    );
  });

  it('has as many checks as alone', () => {
    fc.assert(
      fc.property(seconds, seconds, fc.string(), (interval, shortest, key) => {
        const until = interval * 50;
        let checks = 0;
        for (let at = 0; ; checks += 1) {
          at = nextDue(at, interval, shortest, key, false);
          if (at > until) break;
        }
        expect(Math.abs(checks - 50)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('costs no read of its own where the other reads are frequent', () => {
    for (const interval of [600, 720, 1_000, 3_599].map((count) => count * 1000)) {
      const due = nextDue(1_234_567, interval, 60_000, 'hackernews:abc', false);
      expect((due - phaseOf('hackernews:abc', 60_000, false)) % 60_000).toBe(0);
    }
  });
});
