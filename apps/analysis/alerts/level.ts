import type { AlertCondition, SpikeLevel } from './alert-rules.js';

/** The threshold of a spike for each sensitivity, in standard deviations above the baseline. */
const DEVIATIONS: Readonly<Record<SpikeLevel, number>> = { low: 3, medium: 2, high: 1.5 };
/** A spike has at least this many mentions. */
export const MIN_SPIKE_MENTIONS = 5;
/**
 * Anscombe transform: the square root of a Poisson count plus 3/8 has a standard deviation of about one half, unless
 * the mean of the count is very small.
 */
const ROOT_SHIFT = 3 / 8;
const POISSON_DEVIATION = 0.5;

/** The threshold of a condition, the baseline from which it was computed, and the counted searches. */
export interface Level {
  /** The expected number of mentions. */
  baseline: number;
  /** The smallest number of mentions with which the condition fires. */
  threshold: number;
  /**
   * Indexes in `Counts` of the searches whose mentions are counted: the searches with enough history, or all searches
   * if there are no earlier windows.
   */
  searches: number[];
}

/** The counts of one window, by search; undefined where the search did not cover the window. */
export type Counts = readonly (number | undefined)[];

/**
 * Computes the threshold of a condition from the counts of earlier windows. If a search did not cover a window, the mean of
 * the windows that it covered is used for that window, not 0. A search without enough history (see `needed`) is not
 * counted, except for a rule that has no earlier windows.
 * @param windows the counts of each earlier window; empty if every earlier window begins before the start of
 *   the first search
 * @param needed a search has enough history if it covered at least this number of windows
 * @returns undefined if there is not enough history, so that nothing can fire
 */
export function levelOf(
  condition: AlertCondition,
  windows: readonly Counts[],
  needed: number,
  searchCount: number,
): Level | undefined {
  const all = Array.from({ length: searchCount }, (_, n) => n);
  const isRule = condition.kind !== 'spike';
  if (isRule && windows.length === 0) return { baseline: 0, threshold: condition.min, searches: all };
  const known = all.filter((n) => knownOf(windows, n).length >= needed);
  if (known.length === 0) return undefined;
  if (isRule) {
    const baseline = sum(known.map((n) => mean(knownOf(windows, n))));
    const threshold = Math.max(condition.min, Math.ceil(condition.multiple * baseline));
    return { baseline, threshold, searches: known };
  }
  return { ...spikeLevel(totalsOf(windows, known), DEVIATIONS[condition.level]), searches: known };
}

function spikeLevel(totals: readonly number[], deviations: number): Omit<Level, 'searches'> {
  const roots = totals.map((total) => Math.sqrt(total + ROOT_SHIFT));
  const centre = mean(roots);
  const squares = sum(roots.map((root) => (root - centre) ** 2));
  const deviation = Math.max(POISSON_DEVIATION, Math.sqrt(squares / (roots.length - 1)));
  // The last factor is needed because the centre itself is an estimate from a limited number of windows.
  const width = deviations * deviation * Math.sqrt(1 + 1 / roots.length);
  const reached = (centre + width) ** 2 - ROOT_SHIFT;
  return { baseline: mean(totals), threshold: Math.max(MIN_SPIKE_MENTIONS, Math.ceil(reached)) };
}

/**
 * Returns the total of each window that at least one search covered. For a search that did not cover the window, its
 * mean is added.
 */
function totalsOf(windows: readonly Counts[], searches: readonly number[]): number[] {
  const means = new Map(searches.map((n) => [n, mean(knownOf(windows, n))]));
  return windows
    .filter((counts) => searches.some((n) => counts[n] !== undefined))
    .map((counts) => sum(searches.map((n) => counts[n] ?? means.get(n) ?? 0)));
}

function knownOf(windows: readonly Counts[], search: number): number[] {
  return windows.map((counts) => counts[search]).filter((count) => count !== undefined);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
