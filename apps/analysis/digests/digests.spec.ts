import { create } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { DIGEST_MODES, EventSchema, type DigestItem, type DigestMode } from '#contracts';
import { digestOf, waitingItemOf, type DigestHead, type WaitingItem } from '../domain/digest-content.js';
import { lastDue, nextDue } from '../domain/digest-times.js';
import { turnAfterStored, type DigestTurn, type StoredDigest } from '../domain/digest-turn.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Asia/Kathmandu'],
  ...['Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia', 'Africa/Casablanca', 'America/Santiago'],
  'Pacific/Chatham',
  'America/Nuuk',
];

/** Returns the wall clock of an instant. Does not use the library that the code under test uses. */
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
  it('is a full hour, 09:00 or Monday 09:00 in the account’s time zone, depending on the mode [digests.times]', () => {
    fc.assert(
      fc.property(modes, zones, instants, (mode, zone, after) => {
        const { weekday, hour, minute, second } = wallClock(nextDue(mode, zone, after), zone);
        expect([minute, second]).toEqual(['00', '00']);
        if (mode !== 'hourly') expect(hour).toBe('09');
        if (mode === 'weekly_report') expect(weekday).toBe('Mon');
      }),
    );
  });

  it('is the first due time after a given time (`nextDue`), or the last one until then (`lastDue`) [digests.times, digests.dst]', () => {
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
          // From an earlier time, `nextDue` reaches the same due time.
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
    ['Australia/Lord_Howe', '2026-10-03T15:45:00Z', '2026-10-03T16:00:00.000Z'],
    ['Pacific/Chatham', '2026-04-04T14:05:00Z', '2026-04-04T14:15:00.000Z'],
    ['Pacific/Chatham', '2026-09-26T14:05:00Z', '2026-09-26T14:15:00.000Z'],
  ])(
    'is the next full hour in %s after %s, although the clock changes in that hour [digests.times, digests.dst]',
    (zone, after, due) => {
      expect(new Date(nextDue('hourly', zone, Date.parse(after))).toISOString()).toBe(due);
    },
  );

  it('is not a day late in Greenland if the clock skips the last hour of the next day [digests.times, digests.dst]', () => {
    const after = Date.parse('2026-03-27T23:30:00-02:00');
    expect(nextDue('daily', 'America/Nuuk', after)).toBe(Date.parse('2026-03-28T09:00:00-02:00'));
  });

  it.each([
    ['a day of 23 hours', '2026-03-29', 23],
    ['a day of 25 hours', '2026-10-25', 25],
    ['an ordinary day', '2026-06-01', 24],
  ])(
    'comes once in each hour of %s if digests are hourly, and once if digests are daily [digests.dst]',
    (_, date, hours) => {
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
    },
  );
});

describe('an item of a digest', () => {
  const eventIn = (type: string, body: object, previousPrice?: number) => {
    const item = { bodyJson: JSON.stringify(body), ...(previousPrice !== undefined && { previousPrice }) };
    return waitingItemOf(create(EventSchema, { type, push: true, matched: { item } }))?.item.event;
  };

  it('has the type of its event, the prices of a listing, and the brand of a citation', () => {
    const none = { price: null, previousPrice: null, currency: null, brand: null };
    expect(eventIn('post.created', { price: 3 })).toEqual({ ...none, type: 'post.created' });
    expect(eventIn('listing.price_changed', { price: 15, currency: 'EUR' }, 20)).toEqual({
      ...{ type: 'listing.price_changed', price: 15, previousPrice: 20, currency: 'EUR', brand: null },
    });
    expect(eventIn('term.cited', { brand: 'Acme' })).toEqual({ ...none, type: 'term.cited', brand: 'Acme' });
  });

  it('does not end with a part of an emoji if its text is cut', () => {
    const item = { text: `${'x'.repeat(295)}👩‍👩‍👧‍👦 more` };
    const waiting = waitingItemOf(create(EventSchema, { push: true, matched: { item } }));
    expect(waiting?.item.excerpt).toBe(`${'x'.repeat(295)}…`);
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

  it('begins with items of VIPs and items with the label `to_reply`; then come buckets and stories, the largest first [digests.order]', () => {
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

it('the period of the next digest begins when the channel was added again, if the channel had been removed', () => {
  const added = Date.UTC(2026, 2, 2, 12);
  const turn: DigestTurn = {
    ...{ keywordId: 'k', channelId: 'c', mode: 'daily', accountId: 'a', timeZone: 'UTC' },
    ...{ periodFrom: added, afterSeq: 900, digestSeq: 0, dueAt: nextDue('daily', 'UTC', added) },
  };
  const last: StoredDigest = { seq: 7, periodTo: added - 21 * DAY_MS, cutSeq: 100 };
  expect(turnAfterStored(turn, last)).toEqual({ ...turn, digestSeq: 7 });
});
