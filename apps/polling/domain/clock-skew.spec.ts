import fc from 'fast-check';
import { ClockSkew } from './clock-skew.js';

const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const dated = (ms: number) => ({ date: new Date(ms).toUTCString() });

describe('the skew of an upstream’s clock', () => {
  it('is 0 if the clocks agree, for any duration of the request and any date within that time', () => {
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

  it('is not measured from a cached response, a missing or unreadable date, or a date that differs by a day', () => {
    const skew = new ClockSkew();
    skew.read({ ...dated(NOW - 120_000), age: '120' }, NOW, NOW);
    skew.read({}, NOW, NOW);
    skew.read({ date: 'yesterday' }, NOW, NOW);
    skew.read(dated(NOW + 86_400_000), NOW, NOW);
    expect(skew.aheadMs).toBe(0);
  });
});
