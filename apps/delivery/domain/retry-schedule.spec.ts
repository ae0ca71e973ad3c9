import fc from 'fast-check';
import { nextAttemptAt } from './retry-schedule.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('the retry schedule', () => {
  it('waits 30 s, 120 s, then 10 min, 1 h, 4 h, 12 h and 24 h, and then stops [limits.retries]', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => nextAttemptAt(attempts, 0, 0));
    expect(waits).toEqual([
      30 * SECOND,
      120 * SECOND,
      10 * MINUTE,
      HOUR,
      4 * HOUR,
      12 * HOUR,
      24 * HOUR,
      undefined,
      undefined,
    ]);
  });

  it('allows eight attempts if each is made on time', () => {
    let now = 0;
    let attempts = 1;
    for (
      let next = nextAttemptAt(attempts, 0, now);
      next !== undefined;
      next = nextAttemptAt(attempts, 0, now)
    ) {
      now = next;
      attempts += 1;
    }
    expect([attempts, now]).toEqual([8, 41 * HOUR + 12 * MINUTE + 30 * SECOND]);
  });

  it('sets the next attempt at least 30 s after the failed attempt, and at most 48 h after the delivery was created', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.nat(),
        fc.integer({ min: 0, max: 60 * HOUR }),
        (attempts, firstAt, late) => {
          const now = firstAt + late;
          const next = nextAttemptAt(attempts, firstAt, now);
          if (next === undefined) return;
          expect(next).toBeGreaterThanOrEqual(now + 30 * SECOND);
          expect(next - firstAt).toBeLessThanOrEqual(48 * HOUR);
        },
      ),
    );
  });

  it('allows an attempt exactly 48 hours after the delivery was created, but not later', () => {
    expect(nextAttemptAt(7, 0, 24 * HOUR)).toBe(48 * HOUR);
    expect(nextAttemptAt(7, 0, 24 * HOUR + 1)).toBeUndefined();
  });
});
