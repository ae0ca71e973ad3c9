import fc from 'fast-check';
import { theilSen, trendOf } from './trend.js';

const line = (slope: number, start: number, minutes = 30) =>
  Array.from({ length: minutes * 6 }, (_, n) => ({ minute: n / 6, value: start + (slope * n) / 6 }));

it('theilSen finds the slope of a line even if the last points are far above the line', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -5, max: 5, noNaN: true }),
      fc.integer({ min: 100, max: 10_000 }),
      (slope, jump) => {
        const points = line(slope, 200).map((point, n) =>
          n >= 150 ? { ...point, value: point.value + jump } : point,
        );
        expect(theilSen(points)).toBeCloseTo(slope);
      },
    ),
    { numRuns: 20 },
  );
});

it('the trend compares the end of a run with the first third of the run, but ignores the warm-up', () => {
  const warming = line(0, 100).map((point) => (point.minute < 5 ? { ...point, value: 20 } : point));
  expect(trendOf(warming, 30)).toEqual({ warmUp: 20, baseline: 100, last: 100, slopePerHour: 0 });
  const growing = trendOf(line(1, 100), 30);
  expect(growing.slopePerHour).toBeCloseTo(60);
  expect(growing.last - growing.baseline).toBeCloseTo(20);
});
