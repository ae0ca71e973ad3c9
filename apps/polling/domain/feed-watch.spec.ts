import fc from 'fast-check';
import { FeedWatch } from './feed-watch.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Reads the feed every `stepMs` for `ms`, without new items. @returns the time of the last read */
function readQuietly(watch: FeedWatch, from: number, ms: number, stepMs: number): number {
  let at = from;
  while (at < from + ms) watch.read('a', (at += stepMs));
  return at;
}

describe('a feed of newest items', () => {
  it('counts as frozen if it was read without a new item for longer than is normal for its source', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    readQuietly(watch, 0, HOUR, MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
    watch.read(undefined, HOUR + MINUTE);
    expect(watch.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('does not count as frozen any more when a new item appears', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    const at = readQuietly(watch, 0, 2 * HOUR, MINUTE);
    expect(watch.frozenForMs).toBe(2 * HOUR);
    watch.read('b', at + MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
  });

  it('counts only a small part of the time between two reads that are far apart', () => {
    const watch = new FeedWatch(HOUR);
    watch.read('a', 0);
    watch.read('a', 100 * HOUR);
    expect([watch.frozenForMs, watch.state?.quietMs]).toEqual([undefined, HOUR / 10]);
  });

  it('continues from the state that the previous holder of the lane stored', () => {
    const first = new FeedWatch(HOUR);
    first.read('a', 0);
    const at = readQuietly(first, 0, HOUR, MINUTE);
    const second = new FeedWatch(HOUR, first.state);
    second.read('a', at + MINUTE);
    expect(second.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('never counts as frozen while each read has a new item, however rare the reads are', () => {
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
