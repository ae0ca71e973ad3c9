import { instantIn } from './wall-clock.js';

it.each([
  ['2026-01-01T12:00', 'Europe/Berlin', '2026-01-01T11:00:00.000Z'],
  ['2026-07-01 12:00:30.5', 'Europe/Berlin', '2026-07-01T10:00:30.500Z'],
  ['2026-07-01', 'Asia/Tokyo', '2026-06-30T15:00:00.000Z'],
  ['2026-07-01', 'Asia/Kolkata', '2026-06-30T18:30:00.000Z'],
  ['2026-07-01T12:00Z', 'Asia/Tokyo', '2026-07-01T12:00:00.000Z'],
  ['2026-07-01T12:00+0200', 'Asia/Tokyo', '2026-07-01T10:00:00.000Z'],
  // The hour after the clocks were put back, and the one before they are put forward.
  ['2026-10-25T03:30', 'Europe/Berlin', '2026-10-25T02:30:00.000Z'],
  ['2026-03-29T01:30', 'Europe/Berlin', '2026-03-29T00:30:00.000Z'],
  ['2026-11-01T00:30', 'America/New_York', '2026-11-01T04:30:00.000Z'],
])('%s in %s is %s [keywords.timezone]', (text, zone, instant) => {
  expect(new Date(instantIn(text, zone)).toISOString()).toBe(instant);
});
