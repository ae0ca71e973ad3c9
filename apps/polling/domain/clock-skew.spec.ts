import fc from 'fast-check';
import { ClockSkew } from './clock-skew.js';

const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const dated = (ms: number) => ({ date: new Date(ms).toUTCString() });

describe('the skew of an upstream’s clock', () => {
  it('is 0 if the clocks agree, at whatever moment of the request the upstream dates its response', () => {
    fc.assert(
      fc.property(fc.nat(30_000), fc.nat(100), fc.nat(999), (tookMs, percent, ms) => {
        const skew = new ClockSkew();
        const sentAt = NOW + ms;
        skew.read(dated(sentAt + Math.floor((tookMs * percent) / 100)), sentAt, sentAt + tookMs);
        expect(skew.aheadMs).toBeCloseTo(0);
      }),
    );
  });

  it('is measured from the date of a response', () => {
    const skew = new ClockSkew();
    skew.read(dated(NOW + 120_000), NOW, NOW + 300);
    expect(skew.aheadMs).toBe(119_700);
    skew.read(dated(NOW - 120_000), NOW, NOW + 300);
    expect(skew.aheadMs).toBe(-119_000);
    skew.read(dated(NOW), NOW, NOW + 300);
    expect(skew.aheadMs).toBeCloseTo(0);
  });

  it('is not measured from a cached response, or a missing or unreadable date', () => {
    const skew = new ClockSkew();
    skew.read({ ...dated(NOW - 120_000), age: '120' }, NOW, NOW);
    skew.read({}, NOW, NOW);
    skew.read({ date: 'yesterday' }, NOW, NOW);
    expect([skew.aheadMs, skew.troubleWith('reddit')]).toEqual([0, undefined]);
  });

  it.each([
    ['is used', -60, -3_599_000],
    ['is not used', -24 * 60 - 1, 0],
    ['is not used', 16, 0],
  ])('%s, and is reported as trouble, if the difference is %i minutes', (_, minutes, aheadMs) => {
    const skew = new ClockSkew();
    skew.read(dated(NOW + minutes * 60_000), NOW, NOW);
    expect(skew.aheadMs).toBe(aheadMs);
    expect(skew.troubleWith('reddit')).toBe(
      `the clocks of this machine and of reddit differ by ${Math.abs(minutes)} min (this machine is ${minutes < 0 ? 'ahead' : 'behind'}): new items can be missed; check the clock of this machine`,
    );
  });

  it('is not reported as trouble below a quarter of an hour', () => {
    const skew = new ClockSkew();
    for (const ahead of [-14, 14]) {
      skew.read(dated(NOW + ahead * 60_000), NOW, NOW);
      expect(skew.troubleWith('reddit')).toBeUndefined();
    }
  });
});
