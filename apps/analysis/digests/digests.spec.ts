import * as fc from 'fast-check';
import { DIGEST_MODES, type DigestItem, type DigestMode } from '#contracts';
import { digestOf, type DigestHead, type WaitingItem } from '../domain/digest-content.js';
import { lastDue, nextDue } from '../domain/digest-times.js';
import {
  duePeriod,
  turnAfter,
  turnAfterStored,
  type DigestTurn,
  type StoredDigest,
} from '../domain/digest-turn.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia', 'Africa/Casablanca', 'America/Santiago'],
];

/** The wall clock of an instant, by another implementation than that of the code under test. */
function wallClock(at: number, timeZone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    ...{
      weekday: 'short',
      day: '2-digit',
      month: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    },
  });
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value])) as Record<
    string,
    string
  >;
}

const instants = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) });
const zones = fc.constantFrom(...ZONES);
const modes = fc.constantFrom(...DIGEST_MODES);

describe('the time at which a digest is due', () => {
  it('is a full hour, 09:00 or Monday 09:00 of the account’s wall clock, in every zone [digests.times]', () => {
    fc.assert(
      fc.property(modes, zones, instants, (mode, zone, after) => {
        const { weekday, hour, minute, second } = wallClock(nextDue(mode, zone, after), zone);
        expect([minute, second]).toEqual(['00', '00']);
        if (mode !== 'hourly') expect(hour).toBe('09');
        if (mode === 'weekly_report') expect(weekday).toBe('Mon');
      }),
    );
  });

  it('is later, never skips one, and the last one is the one before the next [digests.times, digests.dst]', () => {
    fc.assert(
      fc.property(
        modes,
        zones,
        instants,
        fc.integer({ min: 0, max: 8 * DAY_MS }),
        (mode, zone, after, back) => {
          const due = nextDue(mode, zone, after);
          expect(due).toBeGreaterThan(after);
          expect(nextDue(mode, zone, due - 1)).toBe(due);
          // From any earlier time, the same digests follow.
          let other = nextDue(mode, zone, after - (mode === 'hourly' ? back % (6 * HOUR_MS) : back));
          while (other < due) other = nextDue(mode, zone, other);
          expect(other).toBe(due);
          expect(lastDue(mode, zone, due)).toBe(due);
          expect(nextDue(mode, zone, lastDue(mode, zone, after))).toBe(due);
        },
      ),
    );
  });

  it.each([
    ['a day of 23 hours', '2026-03-29', 23],
    ['a day of 25 hours', '2026-10-25', 25],
    ['an ordinary day', '2026-06-01', 24],
  ])('comes once for each hour of %s, and once for the day [digests.dst]', (_, date, hours) => {
    const zone = 'Europe/Berlin';
    const [day = '', month = ''] = date.split('-').reverse();
    const start = Date.parse(`${date}T00:00:00Z`) - 12 * HOUR_MS;
    const onDay = (mode: DigestMode) => {
      let count = 0;
      for (let due = nextDue(mode, zone, start); due < start + 2 * DAY_MS; due = nextDue(mode, zone, due)) {
        const clock = wallClock(due, zone);
        if (clock['day'] === day && clock['month'] === month) count += 1;
      }
      return count;
    };
    expect([onDay('hourly'), onDay('daily')]).toEqual([hours, 1]);
  });
});

describe('the content of a digest', () => {
  const waiting = (
    n: number,
    more: Partial<Omit<WaitingItem, 'item'>> & { item?: Partial<DigestItem> } = {},
  ): WaitingItem => ({
    bucket: null,
    storyId: null,
    own: '',
    ...more,
    item: { mentionId: `m${n}`, vip: false, labels: [], ...more.item } as unknown as DigestItem,
  });
  const head = { id: 'd' } as unknown as DigestHead;

  it('has VIPs and items to reply first, then buckets and stories, the largest first [digests.order]', () => {
    const [a, b] = [
      { key: 'a', label: 'A' },
      { key: 'b', label: 'B' },
    ];
    const digest = digestOf(
      head,
      [
        waiting(1, { item: { vip: true }, bucket: a }),
        waiting(2, { item: { labels: ['to_reply'] } }),
        waiting(3),
        waiting(4, { bucket: b, storyId: 's' }),
        waiting(5, { bucket: a, storyId: 't' }),
        waiting(6, { bucket: a, storyId: 'u' }),
        waiting(7, { bucket: a, storyId: 'u' }),
      ],
      9,
    );
    expect(digest.priority.map(({ mentionId }) => mentionId)).toEqual(['m1', 'm2']);
    expect(
      digest.groups.map(({ bucket, stories }) => [
        bucket?.label,
        ...stories.map(({ items }) => items.map(({ mentionId }) => mentionId).join('+')),
      ]),
    ).toEqual([
      ['A', 'm6+m7', 'm5'],
      ['B', 'm4'],
      [undefined, 'm3'],
    ]);
    expect([digest.total, digest.more]).toEqual([9, 2]);
  });
});

/** A digest as it is stored, with the sequences of its items. */
interface SimulatedDigest extends StoredDigest {
  from: number;
  items: number[];
}

describe('a month with changes of daylight saving time, of 1,000 keywords in all modes', () => {
  it('puts each item into exactly one digest of each mode, at its time, however often a process dies [digests.exactly-once, digests.dst, digests.empty]', () => {
    const start = Date.UTC(2026, 2, 1);
    const end = Date.UTC(2026, 3, 1);
    const random = generator(5);
    let seq = 0;
    let digestSeq = 0;
    const keywords = Array.from({ length: 1_000 }, (_, n) => ({
      timeZone: ZONES[n % ZONES.length] ?? 'UTC',
      /** Sequence and time of each item. */
      items: [] as { seq: number; at: number }[],
      turns: DIGEST_MODES.map((mode) => {
        const timeZone = ZONES[n % ZONES.length] ?? 'UTC';
        const turn: DigestTurn = {
          ...{ keywordId: `k${n}`, channelId: 'c', accountId: 'a', mode, timeZone },
          ...{ periodFrom: start, afterSeq: 0, digestSeq: 0, dueAt: nextDue(mode, timeZone, start) },
        };
        return { turn, stored: [] as SimulatedDigest[] };
      }),
    }));
    // Every half hour, because some zones are half an hour apart. The last round comes after the last digest.
    for (let now = start; now <= end + 8 * DAY_MS; now += HOUR_MS / 2) {
      // One hour in twenty nothing runs.
      const isDown = now < end && random() < 0.05;
      for (const { items, turns } of keywords) {
        for (const slot of isDown ? [] : turns)
          while (slot.turn.dueAt <= now) {
            const { turn, stored } = slot;
            const period = duePeriod(turn, seq, now);
            const last = stored.at(-1);
            if (last && last.seq !== turn.digestSeq) {
              slot.turn = turnAfterStored(turn, last);
              continue;
            }
            const inIt = itemsIn(items, turn.afterSeq, period.cutSeq);
            if (inIt.length > 0) {
              digestSeq += 1;
              stored.push({
                seq: digestSeq,
                from: period.from,
                periodTo: period.to,
                cutSeq: period.cutSeq,
                items: inIt,
              });
              // One process in fifty dies after it has stored the digest.
              if (random() < 0.02) continue;
            }
            slot.turn = { ...turnAfter(turn, period), digestSeq: stored.at(-1)?.seq ?? 0 };
          }
        if (now < end && random() < 0.04) items.push({ seq: (seq += 1), at: now + 1 });
      }
    }
    let digests = 0;
    const faults: string[] = [];
    const rightTimes = new Set<string>();
    for (const { items, turns } of keywords) {
      const times = new Map(items.map((item) => [item.seq, item.at]));
      const all = items.map((item) => item.seq).join();
      for (const { stored, turn } of turns) {
        digests += stored.length;
        const fault = (what: string) => faults.push(`${turn.keywordId} ${turn.mode}: ${what}`);
        if (stored.flatMap((one) => one.items).join() !== all) fault('not each item once');
        let before = start;
        for (const { from, periodTo, items: inIt } of stored) {
          if (from < before) fault('periods overlap');
          const time = `${turn.mode} ${turn.timeZone} ${periodTo}`;
          if (!rightTimes.has(time) && nextDue(turn.mode, turn.timeZone, periodTo - 1) !== periodTo)
            fault('not at its time');
          rightTimes.add(time);
          before = periodTo;
          for (const one of inIt) {
            const at = times.get(one) ?? 0;
            if (at < from || at >= periodTo + HOUR_MS) fault('an item of another period');
          }
        }
      }
    }
    expect(faults).toEqual([]);
    expect(digests).toBe(digestSeq);
    expect(digests).toBeGreaterThan(100_000);
  });
});

function itemsIn(items: readonly { seq: number }[], after: number, cut: number): number[] {
  const found: number[] = [];
  for (let n = items.length - 1; n >= 0; n -= 1) {
    const { seq } = items[n]!;
    if (seq <= after) break;
    if (seq <= cut) found.unshift(seq);
  }
  return found;
}

/** Mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it('the period of a channel that was added again begins when it was added, not at the end of its last digest', () => {
  const added = Date.UTC(2026, 2, 2, 12);
  const turn: DigestTurn = {
    ...{ keywordId: 'k', channelId: 'c', mode: 'daily', accountId: 'a', timeZone: 'UTC' },
    ...{ periodFrom: added, afterSeq: 900, digestSeq: 0, dueAt: nextDue('daily', 'UTC', added) },
  };
  const last: StoredDigest = { seq: 7, periodTo: added - 21 * DAY_MS, cutSeq: 100 };
  expect(turnAfterStored(turn, last)).toEqual({ ...turn, digestSeq: 7 });
});
