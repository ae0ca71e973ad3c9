import { countedAtOf } from './counted-at.js';

describe('the time at which an item is counted', () => {
  const check = {
    windowFrom: '2026-01-05T10:00:00.000Z',
    windowTo: '2026-01-05T10:05:00.000Z',
    finishedAt: '2026-01-05T10:05:01.000Z',
    gap: false,
  };
  const at = (publishedAt?: string, more = {}) =>
    countedAtOf({ ...check, ...more }, { publishedAt } as never);

  it('is the time of its publication, or the end of its check if the publication is later [alerts.own-time]', () => {
    expect(at('2026-01-05T08:00:00.000Z')).toBe('2026-01-05T08:00:00.000Z');
    expect(at('2027-01-05T08:00:00.000Z')).toBe(check.finishedAt);
  });

  it('is the end of the check for an undated item, but unknown if the check had a gap or a long window [alerts.own-time]', () => {
    expect(at()).toBe(check.finishedAt);
    expect(at(undefined, { gap: true })).toBe('');
    expect(at(undefined, { windowFrom: '2026-01-05T01:00:00.000Z' })).toBe('');
    expect(at(undefined, { windowFrom: '' })).toBe('');
  });
});
