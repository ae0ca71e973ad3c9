import { badgeText, beginsLater } from '../../apps/dashboard/pages/coverage/shown-time.js';

const MINUTE = 60_000;

describe('beginsLater', () => {
  it.each([
    [false, '2026-11-20T12:00:00.000Z'],
    [true, '2026-11-20T12:00:00.001Z'],
  ])(
    'returns %s if the answer begins at %s and the request begins at 2026-11-20T12:00:00.000Z',
    (expected, since) => {
      expect(beginsLater({ since }, '2026-11-20T12:00:00.000Z')).toBe(expected);
    },
  );
});

describe('the badge of a search', () => {
  it.each([
    ['100% covered', MINUTE, MINUTE],
    ['over 99% covered', 999 * MINUTE, 1000 * MINUTE],
    ['25% covered', MINUTE, 4 * MINUTE],
  ])(
    'says “%s” if %i of %i ms are covered, even if the answer begins later than requested',
    (text, covered, whole) => {
      expect([false, true].map((isCut) => badgeText(covered, whole, isCut))).toEqual([text, text]);
    },
  );

  it.each([0, MINUTE - 1])(
    'says “Just started” for a search of %i ms, but nothing if the answer begins later than requested',
    (whole) => {
      expect(badgeText(whole, whole, false)).toBe('Just started');
      expect(badgeText(whole, whole, true)).toBeUndefined();
    },
  );
});
