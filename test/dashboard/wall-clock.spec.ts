import { wallClock } from '../../apps/dashboard/pages/keyword-editor/wall-clock.js';

describe('the time of a schedule in the form', () => {
  it.each([
    ['2026-11-28T09:00:00Z', 'America/New_York', '2026-11-28T04:00'],
    ['2026-07-01T09:00:00+02:00', 'Asia/Tokyo', '2026-07-01T16:00'],
    ['2026-11-28T09:00:30', 'America/New_York', '2026-11-28T09:00'],
    ['2026-11-28T09:00:00Z', 'Not/AZone', '2026-11-28T09:00'],
    ['', 'UTC', ''],
  ])('shows the instant %j, in the time zone %s, as %j', (stored, timeZone, shown) => {
    expect(wallClock(stored, timeZone)).toBe(shown);
  });
});
