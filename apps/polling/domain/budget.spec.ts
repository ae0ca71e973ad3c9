import fc from 'fast-check';
import { TokenBucket } from '#kernel';
import { blocksLane, waitAfter } from './backoff.js';

const kind = fc.constantFrom(
  'rate_limited',
  'unauthorized',
  'server_error',
  'timeout',
  'network',
  'not_parsable',
  'gone',
);
const failures = fc.integer({ min: 1, max: 1000 });
const random = fc.double({ min: 0, max: 1, noNaN: true });

describe('the wait after a failure', () => {
  it('is the time that the upstream asked for', () => {
    fc.assert(
      fc.property(kind, failures, fc.nat(), random, (of, n, retryAfterMs, r) => {
        expect(waitAfter(of, n, retryAfterMs, r)).toBe(retryAfterMs);
      }),
    );
  });

  it('doubles from 5 s to 15 min, plus a random part of up to a quarter', () => {
    expect([1, 2, 3, 8, 9, 1000].map((n) => waitAfter('server_error', n, undefined, 0))).toEqual([
      5_000, 10_000, 20_000, 640_000, 900_000, 900_000,
    ]);
    fc.assert(
      fc.property(kind, failures, random, (of, n, r) => {
        const wait = waitAfter(of, n, undefined, r);
        const min = waitAfter(of, n, undefined, 0);
        expect(wait).toBeGreaterThanOrEqual(min);
        expect(wait).toBeLessThanOrEqual(Math.ceil(min * 1.25));
        expect(waitAfter(of, n + 1, undefined, 0)).toBeGreaterThanOrEqual(min);
      }),
    );
  });

  it.each(['rate_limited', 'unauthorized'])('begins with 30 s after `%s`', (of) => {
    expect(waitAfter(of, 1, undefined, 0)).toBe(30_000);
  });

  it('applies to the whole lane only if the backoff of the connector is `lane` and the failure concerns the whole upstream', () => {
    for (const kind of [
      'rate_limited',
      'unauthorized',
      'server_error',
      'timeout',
      'network',
      'not_parsable',
    ]) {
      expect([kind, blocksLane(kind, 'lane')]).toEqual([kind, true]);
      expect([kind, blocksLane(kind, 'search')]).toEqual([kind, false]);
    }
    for (const kind of [
      'forbidden',
      'not_found',
      'gone',
      'blocked',
      'truncated',
      'unknown_shape',
      'too_large',
    ])
      expect([kind, blocksLane(kind, 'lane')]).toEqual([kind, false]);
  });
});

describe('a token bucket', () => {
  const rate = fc.integer({ min: 1, max: 6000 });
  const burst = fc.integer({ min: 1, max: 50 });
  const gaps = fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 200 });

  /** Returns the times at which requests are sent if they are requested after these gaps. */
  function sentAt(perMinute: number, size: number, between: readonly number[]): number[] {
    const bucket = new TokenBucket(perMinute, size, 0);
    let now = 0;
    return between.map((gap) => {
      now += gap;
      return now + bucket.take(now);
    });
  }

  it('never allows more requests in a time window than its burst and its rate', () => {
    fc.assert(
      fc.property(rate, burst, gaps, (perMinute, size, between) => {
        const sent = sentAt(perMinute, size, between);
        for (let from = 0; from < sent.length; from += 1)
          for (let to = from; to < sent.length; to += 1) {
            // Times are rounded to whole milliseconds, so a request can be sent one millisecond early.
            const spanMs = (sent[to] ?? 0) - (sent[from] ?? 0) + 1;
            expect(to - from + 1).toBeLessThanOrEqual(size + (spanMs * perMinute) / 60_000);
          }
      }),
      { numRuns: 60 },
    );
  });

  it('delays no request if requests do not come faster than its rate', () => {
    fc.assert(
      fc.property(rate, burst, fc.integer({ min: 1, max: 100 }), (perMinute, size, count) => {
        const gap = Math.ceil(60_000 / perMinute);
        const sent = sentAt(perMinute, size, Array<number>(count).fill(gap));
        expect(sent).toEqual(Array.from({ length: count }, (_, n) => (n + 1) * gap));
      }),
    );
  });

  it('sends requests in the order in which they were requested', () => {
    fc.assert(
      fc.property(rate, burst, gaps, (perMinute, size, between) => {
        const sent = sentAt(perMinute, size, between);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
      }),
    );
  });
});
