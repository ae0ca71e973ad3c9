import { relativeTime } from '../../apps/dashboard/parts/format.js';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const SHORT = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

describe('a relative time', () => {
  it.each([
    [60, 1, 'minute'],
    [3569, 59, 'minute'],
    [3576, 1, 'hour'],
    [23.4 * 3600, 23, 'hour'],
    [23.6 * 3600, 1, 'day'],
    [6.4 * 86_400, 6, 'day'],
  ] as const)('shows %d seconds as %d %s', (seconds, count, unit) => {
    expect(relativeTime(ago(seconds), NOW)).toBe(SHORT.format(-count, unit));
    expect(relativeTime(ago(-seconds), NOW)).toBe(SHORT.format(count, unit));
  });

  it('shows a given text for less than a minute before or after now', () => {
    for (const at of [ago(59), ago(-59)]) expect(relativeTime(at, NOW, 'now')).toBe('now');
  });
});
