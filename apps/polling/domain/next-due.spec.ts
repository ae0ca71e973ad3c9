import fc from 'fast-check';
import { nextDue, nextTick, originOf } from './next-due.js';

const now = fc.integer({ min: 0, max: 4e12 });
const intervalMs = fc.integer({ min: 1, max: 31_536_000 }).map((seconds) => seconds * 1000);

describe('the ticks of a search', () => {
  it('are the phase plus a whole number of intervals, and the next tick is the first tick after now', () => {
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

  it('continue with the following tick if now is a tick', () => {
    expect(nextTick(120_000, 60_000, 0)).toBe(180_000);
    expect(nextTick(119_999, 60_000, 0)).toBe(120_000);
    expect(nextTick(0, 60_000, 30_000)).toBe(30_000);
  });

  it('have the same next tick for all times between two ticks', () => {
    fc.assert(
      fc.property(now, intervalMs, fc.nat(), (at, interval, late) => {
        const tick = nextTick(at, interval, 0);
        expect(nextTick(Math.min(at + (late % interval), tick - 1), interval, 0)).toBe(tick);
      }),
    );
  });

  it('include the ticks of an hourly search if they come every 60 s and both phases are 0', () => {
    expect(nextTick(3_599_999, 3_600_000, 0) % 60_000).toBe(0);
  });

  it('always have the same phase for the same search, and the phase 0 for searches that share requests', () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        expect(originOf(key, false)).toBe(originOf(key, false));
        expect(originOf(key, true)).toBe(0);
      }),
    );
  });

  it('are spread over the interval for different searches', () => {
    const quarters = [0, 0, 0, 0];
    for (let n = 0; n < 1000; n += 1) {
      const quarter = Math.floor((originOf(`rss:${n}`, false) % 3_600_000) / 900_000);
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    for (const count of quarters) expect(count).toBeGreaterThan(150);
  });
});

describe('a watch that shares its search with other watches', () => {
  const seconds = fc.integer({ min: 1, max: 100_000 }).map((count) => count * 1000);
  const origin = fc.integer({ min: 0, max: 2 ** 32 - 1 });

  it('is due at the first read of its search at or after its tick', () => {
    fc.assert(
      fc.property(now, seconds, seconds, origin, (at, a, b, begin) => {
        const [interval, shortest] = [Math.max(a, b), Math.min(a, b)];
        const due = nextDue(at, interval, shortest, begin);
        const tick = nextTick(at, interval, begin % interval);
        expect((due - (begin % shortest)) % shortest === 0).toBe(true);
        expect(due).toBeGreaterThanOrEqual(tick);
        expect(due).toBeLessThan(tick + shortest);
      }),
    );
  });

  it('has at most one check for each of its ticks, even if the shortest interval of the search changes before each check', () => {
    fc.assert(
      fc.property(
        seconds,
        fc.array(seconds, { minLength: 1, maxLength: 20 }),
        origin,
        (interval, others, begin) => {
          const ticks = others.reduce<number[]>(
            (dues, other) => [...dues, nextDue(dues.at(-1) ?? 0, interval, other, begin)],
            [],
          );
          // The tick that a check serves is the last one at or before the check.
          const served = ticks.map((due) => nextTick(due - interval, interval, begin % interval));
          expect(new Set(served).size).toBe(others.length);
        },
      ),
    );
  });

  it('has one check for each tick while the shortest interval of the search does not change', () => {
    fc.assert(
      fc.property(seconds, seconds, origin, (a, b, begin) => {
        const [interval, shortest] = [Math.max(a, b), Math.min(a, b)];
        const first = nextTick(0, interval, begin % interval);
        for (let [n, at] = [0, 0]; n < 50; n += 1) {
          at = nextDue(at, interval, shortest, begin);
          const late = at - (first + n * interval);
          expect(late >= 0 && late < shortest).toBe(true);
        }
      }),
    );
  });

  it('keeps its own ticks while it has the shortest interval', () => {
    expect(nextDue(100_000, 60_000, 60_000, 7_000)).toBe(127_000);
    expect(nextDue(100_000, 60_000, 90_000, 7_000)).toBe(127_000);
  });

  it('is served by the first read after its tick, and not again by the next read', () => {
    // Reads at 0, 60, 120, …; ticks at 0, 100, 200, … s.
    const dues = [0];
    while (dues.length < 7) dues.push(nextDue(dues.at(-1) ?? 0, 100_000, 60_000, 0));
    expect(dues.map((ms) => ms / 1000)).toEqual([0, 120, 240, 300, 420, 540, 600]);
  });
});
