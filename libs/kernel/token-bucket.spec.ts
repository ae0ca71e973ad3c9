import fc from 'fast-check';
import { TokenBucket } from './token-bucket.js';

const HOUR = 3_600_000;
const rate = fc.integer({ min: 1, max: 6000 });
const burst = fc.integer({ min: 1, max: 50 });
/** Times between requests. A negative time means that the clock was set back. */
const jumps = fc.array(fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: -HOUR, max: HOUR })), {
  minLength: 1,
  maxLength: 100,
});

describe('a token bucket whose clock is set back or forward', () => {
  it('asks for a wait that is no longer than the missing tokens need at its rate', () => {
    fc.assert(
      fc.property(rate, burst, jumps, (perMinute, size, between) => {
        const bucket = new TokenBucket(perMinute, size, 0);
        let now = 0;
        between.forEach((jump, taken) => {
          now += jump;
          const missing = Math.max(0, taken + 1 - size);
          // Waits are rounded up to whole milliseconds.
          expect(bucket.take(now)).toBeLessThanOrEqual((missing * 60_000) / perMinute + 1);
        });
      }),
    );
  });

  it('earns tokens from the new time on after the clock was set back', () => {
    const bucket = new TokenBucket(60, 1, HOUR);
    bucket.take(HOUR);
    expect(bucket.waitMs(0)).toBe(1000);
    expect(bucket.waitMs(400)).toBe(600);
    expect(bucket.waitMs(1000)).toBe(0);
  });
});
