import { median } from '../harness.js';

/** A value at a time. */
export interface Point {
  minute: number;
  value: number;
}

/** The development of a series after the warm-up. */
export interface Trend {
  /** Median of the warm-up, which is five minutes, or a sixth of a run of less than 30 minutes. */
  warmUp: number;
  /** Median of the rest of the run's first third: the baseline. */
  baseline: number;
  /** Median of the last part of the run. This part is as long as the warm-up. */
  last: number;
  /** Change per hour after the warm-up (Theil–Sen estimator). */
  slopePerHour: number;
}

export const WARM_UP_MINUTES = 5;
const MINUTES_IN_HOUR = 60;

/**
 * Returns the trend of a series.
 * @param minutes duration of the run
 */
export function trendOf(points: readonly Point[], minutes: number): Trend {
  const between = (from: number, to: number) =>
    median(points.filter(({ minute }) => minute >= from && minute < to).map(({ value }) => value));
  const warmUp = Math.min(WARM_UP_MINUTES, minutes / 6);
  return {
    warmUp: between(0, warmUp),
    baseline: between(warmUp, minutes / 3),
    last: between(minutes - warmUp, Infinity),
    slopePerHour: theilSen(points.filter(({ minute }) => minute >= warmUp)) * MINUTES_IN_HOUR,
  };
}

/**
 * Returns the median of the slopes between all pairs of points, per minute. Occasional garbage collections, or one
 * large response, hardly change it.
 */
export function theilSen(points: readonly Point[]): number {
  const slopes = points.flatMap((a, at) =>
    points.slice(at + 1).map((b) => (b.value - a.value) / (b.minute - a.minute)),
  );
  return median(slopes.filter(Number.isFinite));
}
