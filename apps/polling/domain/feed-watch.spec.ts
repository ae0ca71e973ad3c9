import fc from 'fast-check';
import { FeedWatch } from './feed-watch.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Reads the feed every `stepMs` for `ms`; nothing new comes. */
function readQuietly(watch: FeedWatch, from: number, ms: number, stepMs: number): number {
  let at = from;
  while (at < from + ms) watch.read('a', (at += stepMs));
  return at;
}

describe('a feed that is followed', () => {
  it('is frozen when it was read for longer than it is ever quiet without anything new', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    readQuietly(watch, 0, HOUR, MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
    watch.read(undefined, HOUR + MINUTE);
    expect(watch.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('is frozen no more as soon as something new comes', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    const at = readQuietly(watch, 0, 2 * HOUR, MINUTE);
    expect(watch.frozenForMs).toBe(2 * HOUR);
    watch.read('b', at + MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
  });

  it('counts little of a time in which nobody looked', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    watch.read('a', 100 * HOUR);
    expect([watch.frozenForMs, watch.state?.quietMs]).toEqual([undefined, HOUR / 10]);
  });

  it('goes on where its last holder left it', () => {
    const first = new FeedWatch(HOUR);
    first.read('a', 0);
    const at = readQuietly(first, 0, HOUR, MINUTE);
    const second = new FeedWatch(HOUR, first.state);
    second.read('a', at + MINUTE);
    expect(second.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('is never frozen while each read brings something new, however seldom it is read', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 * HOUR })), (steps) => {
        const watch = new FeedWatch(HOUR);
        let at = 0;
        steps.forEach((step, n) => {
          watch.read(String(n), (at += step));
          expect(watch.frozenForMs).toBeUndefined();
        });
      }),
    );
  });
});
