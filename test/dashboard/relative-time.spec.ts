import { relativeTime } from '../../apps/dashboard/parts/format.js';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const SHORT = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const LONG = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

describe('a relative time', () => {
  it.each([
    [3569, 59, 'minute'],
    [23.4 * 3600, 23, 'hour'],
    [6.4 * 86_400, 6, 'day'],
  ] as const)('shows %d seconds as %d %s', (seconds, count, unit) => {
    expect(relativeTime(ago(seconds), NOW)).toBe(SHORT.format(-count, unit));
    expect(relativeTime(ago(-seconds), NOW)).toBe(SHORT.format(count, unit));
  });

  it.each([
    [60, 'minute'],
    [3576, 'hour'],
    [23.6 * 3600, 'day'],
    [29 * 86_400, 'month'],
  ] as const)('shows %d seconds as one %s in whole words', (seconds, unit) => {
    expect(relativeTime(ago(seconds), NOW)).toBe(LONG.format(-1, unit));
    expect(relativeTime(ago(-seconds), NOW)).toBe(LONG.format(1, unit));
  });

  it('shows a given text for less than a minute before or after now', () => {
    for (const at of [ago(59), ago(-59)]) expect(relativeTime(at, NOW, 'now')).toBe('now');
  });
});
