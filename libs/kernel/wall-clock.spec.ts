import fc from 'fast-check';
import { Settings } from 'luxon';
import { instantIn, isTimeZone, nextMidnightIn } from './wall-clock.js';

it.each([
  ['2026-01-01T12:00', 'Europe/Berlin', '2026-01-01T11:00:00.000Z'],
  ['2026-07-01 12:00:30.5', 'Europe/Berlin', '2026-07-01T10:00:30.500Z'],
  ['2026-07-01', 'Asia/Tokyo', '2026-06-30T15:00:00.000Z'],
  ['2026-07-01', 'Asia/Kolkata', '2026-06-30T18:30:00.000Z'],
  ['2026-07-01T12:00Z', 'Asia/Tokyo', '2026-07-01T12:00:00.000Z'],
  ['2026-07-01T12:00+0200', 'Asia/Tokyo', '2026-07-01T10:00:00.000Z'],
  // The hour after clocks went back, and the hour before they go forward.
  ['2026-10-25T03:30', 'Europe/Berlin', '2026-10-25T02:30:00.000Z'],
  ['2026-03-29T01:30', 'Europe/Berlin', '2026-03-29T00:30:00.000Z'],
  // The hour that clocks skip, an hour that occurs twice, and the hour before an hour that occurs twice.
  ['2026-03-29T02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['2026-10-25T02:30', 'Europe/Berlin', '2026-10-25T01:30:00.000Z'],
  ['2026-11-01T00:30', 'America/New_York', '2026-11-01T04:30:00.000Z'],
])('the local time %s in %s is the instant %s [keywords.timezone]', (text, zone, instant) => {
  expect(new Date(instantIn(text, zone)).toISOString()).toBe(instant);
});

it.each(['2026-07-01', '2026-12-01'])(
  'a local time that occurs twice is always the later instant, also if today is %s',
  (today) => {
    const { now } = Settings;
    Settings.now = () => Date.parse(today);
    try {
      expect(new Date(instantIn('2026-10-25T02:30', 'Europe/Berlin')).toISOString()).toBe(
        '2026-10-25T01:30:00.000Z',
      );
    } finally {
      Settings.now = now;
    }
  },
);

it.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['+02:00', false],
  ['Mars/Olympus', false],
  ['', false],
])('the text "%s" names a time zone: %s [keywords.timezone]', (name, is) => {
  expect(isTimeZone(name)).toBe(is);
});

const pacific = nextMidnightIn('America/Los_Angeles');

describe('the next midnight', () => {
  it.each([
    ['a winter’s day', '2026-01-15T20:00:00.000Z', '2026-01-16T08:00:00.000Z'],
    ['a summer’s day', '2026-07-15T20:00:00.500Z', '2026-07-16T07:00:00.000Z'],
    ['the last moment of a day', '2026-01-16T07:59:59.999Z', '2026-01-16T08:00:00.000Z'],
    ['midnight itself', '2026-01-16T08:00:00.000Z', '2026-01-17T08:00:00.000Z'],
    ['before clocks go forward', '2026-03-08T08:30:00.000Z', '2026-03-09T07:00:00.000Z'],
    ['after clocks went forward', '2026-03-08T12:00:00.000Z', '2026-03-09T07:00:00.000Z'],
    ['before clocks go back', '2026-11-01T07:30:00.000Z', '2026-11-02T08:00:00.000Z'],
    ['in the hour that occurs twice', '2026-11-01T09:30:00.000Z', '2026-11-02T08:00:00.000Z'],
    ['New Year’s Eve', '2026-12-31T23:00:00.000Z', '2027-01-01T08:00:00.000Z'],
  ])('is correct in California for this case: %s (now %s, midnight %s)', (_, now, midnight) => {
    expect(pacific(new Date(now)).toISOString()).toBe(midnight);
  });

  it('is at 00:00 in UTC', () => {
    const next = nextMidnightIn('UTC');
    expect(next(new Date('2026-03-04T12:00:00Z')).toISOString()).toBe('2026-03-05T00:00:00.000Z');
    expect(next(new Date('2026-03-05T00:00:00Z')).toISOString()).toBe('2026-03-06T00:00:00.000Z');
  });

  it('is 00:00:00 local time, in the future, and at most 25 hours away', () => {
    const shown = new Intl.DateTimeFormat('en-US', {
      timeZone: 'America/Los_Angeles',
      timeStyle: 'medium',
      hourCycle: 'h23',
    });
    const [from, to] = [new Date('2020-01-01T00:00:00Z'), new Date('2040-01-01T00:00:00Z')];
    fc.assert(
      fc.property(fc.date({ min: from, max: to, noInvalidDate: true }), (now) => {
        const next = pacific(now);
        const waitMs = next.getTime() - now.getTime();
        expect(shown.format(next)).toBe('00:00:00');
        expect(waitMs > 0 && waitMs <= 25 * 3_600_000).toBe(true);
      }),
    );
  });
});
