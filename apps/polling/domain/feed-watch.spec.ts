import fc from 'fast-check';
import { FeedWatch, type FeedState } from './feed-watch.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Returns an item that was published at this minute. */
const item = (minute: number) => ({
  itemId: String(minute),
  publishedAt: new Date(minute * MINUTE).toISOString(),
});

/** Records a read at this time. It begins at `sinceMs`. */
function record(
  watch: FeedWatch,
  newest: Parameters<FeedWatch['read']>[0],
  atMs: number,
  sinceMs = atMs,
): void {
  watch.read(newest, atMs, sinceMs);
}

/** Reads the feed every `stepMs` for `ms`, without new items. @returns the time of the last read */
function readQuietly(watch: FeedWatch, from: number, ms: number, stepMs: number): number {
  let at = from;
  while (at < from + ms) record(watch, { itemId: 'a' }, (at += stepMs));
  return at;
}

describe('a feed of newest items', () => {
  it('counts as frozen if it was read without a new item for longer than is normal for its source', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, { itemId: 'a' }, 0);
    readQuietly(watch, 0, HOUR, MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
    record(watch, undefined, HOUR + MINUTE);
    expect(watch.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('does not count as frozen any more when a new item appears', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, { itemId: 'a' }, 0);
    const at = readQuietly(watch, 0, 2 * HOUR, MINUTE);
    expect(watch.frozenForMs).toBe(2 * HOUR);
    record(watch, { itemId: 'b' }, at + MINUTE);
    expect(watch.frozenForMs).toBeUndefined();
  });

  it('counts only a small part of the time between two reads that are far apart', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, { itemId: 'a' }, 0);
    record(watch, { itemId: 'a' }, 100 * HOUR);
    expect([watch.frozenForMs, watch.state?.quietMs]).toEqual([undefined, HOUR / 10]);
  });

  it('continues from the state that the previous holder of the lane stored', () => {
    const first = new FeedWatch(HOUR);
    record(first, { itemId: 'a' }, 0);
    const at = readQuietly(first, 0, HOUR, MINUTE);
    const second = new FeedWatch(HOUR, first.state);
    record(second, { itemId: 'a' }, at + MINUTE);
    expect(second.frozenForMs).toBe(HOUR + MINUTE);
  });

  it('never counts as frozen while each read has a new item, even if the reads are rare', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 * HOUR })), (steps) => {
        const watch = new FeedWatch(HOUR);
        let at = 0;
        steps.forEach((step, n) => {
          record(watch, { itemId: String(n) }, (at += step));
          expect(watch.frozenForMs).toBeUndefined();
        });
      }),
    );
  });
});

describe('the time up to which a read has shown all items', () => {
  /** @returns the minutes up to which reads at these minutes have shown everything */
  const shown = (watch: FeedWatch, ...minutes: number[]) =>
    minutes.map((minute) => watch.shownUntil(minute * MINUTE) / MINUTE);

  it('is the time of the read if the feed shows items without delay, or was never read', () => {
    const watch = new FeedWatch(HOUR);
    expect(shown(watch, 10)).toEqual([10]);
    for (let minute = 0; minute <= 30; minute += 5) record(watch, item(minute - 1), minute * MINUTE);
    expect(shown(watch, 3, 15, 30, 33)).toEqual([3, 15, 30, 33]);
  });

  it('is the time of the newest item while the feed shows nothing newer', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, item(9), 10 * MINUTE);
    for (const minute of [20, 30]) record(watch, item(9), minute * MINUTE);
    expect(shown(watch, 8, 15, 30, 35, 36)).toEqual([8, 9, 9, 9, 36]);
  });

  it('is the time of the newest item as long as the feed is frozen', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, item(9), 10 * MINUTE);
    for (let minute = 15; minute <= 75; minute += 5) record(watch, undefined, minute * MINUTE);
    expect([watch.frozenForMs, ...shown(watch, 1_000)]).toEqual([65 * MINUTE, 9]);
  });

  it('stays known after the feed has shown newer items, and is part of the stored state', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, item(9), 10 * MINUTE);
    record(watch, item(9), 20 * MINUTE);
    record(watch, item(15), 25 * MINUTE);
    record(watch, item(44), 45 * MINUTE);
    const stored = JSON.parse(JSON.stringify(watch.state)) as FeedState;
    expect(shown(new FeedWatch(HOUR, stored), 15, 24, 25, 30, 31, 45)).toEqual([9, 9, 15, 15, 31, 45]);
  });

  it('is the time of the read for a feed without dates, and for the state of an older version', () => {
    const watch = new FeedWatch(HOUR, { newestItemId: 'a', quietMs: 0, readAt: 0 });
    record(watch, { itemId: 'a' }, 30 * MINUTE);
    record(watch, { itemId: 'b' }, 60 * MINUTE);
    record(watch, { itemId: 'b' }, 90 * MINUTE);
    expect(shown(watch, 20, 40, 90)).toEqual([20, 40, 90]);
  });

  it('is the start of the first read if this read has shown nothing', () => {
    const watch = new FeedWatch(HOUR);
    record(watch, undefined, 10 * MINUTE, 3 * MINUTE);
    record(watch, undefined, 20 * MINUTE, 5 * MINUTE);
    expect(shown(watch, 10, 20)).toEqual([3, 3]);
    record(watch, item(22), 25 * MINUTE, 0);
    expect(shown(watch, 10, 24, 25)).toEqual([3, 3, 25]);
  });

  it('stays known for many hours if the feed always shows items late and is read every second', () => {
    const watch = new FeedWatch(HOUR);
    const LATE = 30;
    for (let second = 0; second <= 3 * 3_600; second += 1)
      record(watch, item(second / 60 - LATE), second * 1000);
    const short = [5, 30, 60, 120, 179].map((minute) => minute - watch.shownUntil(minute * MINUTE) / MINUTE);
    expect(Math.min(...short)).toBeGreaterThanOrEqual(LATE - 1);
    expect(Math.max(...short)).toBeLessThan(LATE + 10);
  });

  it('is less than an hour before the read after our clock was days ahead and was set back', () => {
    const watch = new FeedWatch(HOUR);
    const DAYS = 2 * 24 * 60;
    for (const minute of [10, 20, 30]) record(watch, item(minute - 1), (DAYS + minute) * MINUTE);
    for (let minute = 40; minute <= 600; minute += 10) {
      expect(minute - watch.shownUntil(minute * MINUTE) / MINUTE).toBeLessThan(60);
      record(watch, item(minute - 1), minute * MINUTE);
    }
    expect(shown(watch, 600)).toEqual([600]);
  });

  it('is never later than the read, and the stored state stays below 5,000 characters', () => {
    const minutes = fc.integer({ min: -100, max: 10_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(minutes, minutes), { maxLength: 200 }), minutes, (reads, at) => {
        const watch = new FeedWatch(HOUR);
        for (const [newest, readAt] of reads) record(watch, item(newest), readAt * MINUTE);
        expect(watch.shownUntil(at * MINUTE)).toBeLessThanOrEqual(at * MINUTE);
        expect(JSON.stringify(watch.state ?? {}).length).toBeLessThan(5_000);
      }),
    );
  });
});
