import { BIN_MS } from '../../apps/analysis/alerts/windows.js';
import type { BinCount } from '../../apps/analysis/alerts/counted-series.js';
import type { Random } from '../matching-data.js';

const HOUR_MS = 3_600_000;
const BINS_PER_HOUR = HOUR_MS / BIN_MS;

/** A time in which more mentions arrive than usual. */
export interface Burst {
  /** Epoch ms. */
  from: number;
  to: number;
  /** The factor by which the rate is higher than usual. */
  times: number;
}

/** Mentions that arrive at random (Poisson) around a rate. */
export interface Arrivals {
  from: number;
  to: number;
  /** Returns the number of mentions per hour at a time in epoch ms. */
  rateAt(ms: number): number;
  bursts: readonly Burst[];
}

/** The name of the only search of a synthetic keyword. */
export const SEARCH = 'search';

/** Returns the counts of all bins of five minutes that have mentions. */
export function countsOf({ from, to, rateAt, bursts }: Arrivals, random: Random): BinCount[] {
  const counts: BinCount[] = [];
  for (let at = from; at < to; at += BIN_MS) {
    const times = bursts.find((burst) => at >= burst.from && at < burst.to)?.times ?? 1;
    const total = poisson((rateAt(at) * times) / BINS_PER_HOUR, random);
    if (total > 0) counts.push({ watchId: SEARCH, at, total, negative: 0 });
  }
  return counts;
}

/** Returns a rate that is the same at all times. */
export function flat(perHour: number): Arrivals['rateAt'] {
  return () => perHour;
}

/** Returns a rate with the given mean that is low at night and high during the day (UTC). */
export function daily(perHour: number): Arrivals['rateAt'] {
  return (ms) => perHour * (1 - 0.8 * Math.cos((2 * Math.PI * ms) / (24 * HOUR_MS)));
}

/** Returns bursts of equal length: one at a random time in each period of `stepMs`. */
export function burstsIn(
  from: number,
  to: number,
  stepMs: number,
  burst: { times: number; ms: number },
  random: Random,
): Burst[] {
  const bursts: Burst[] = [];
  for (let at = from; at + stepMs <= to; at += stepMs) {
    const start = at + Math.floor((random() * (stepMs - burst.ms)) / BIN_MS) * BIN_MS;
    bursts.push({ from: start, to: start + burst.ms, times: burst.times });
  }
  return bursts;
}

/**
 * Draws a Poisson number by Knuth's method. The method is slow for a large mean, but the mean of five minutes is small.
 */
function poisson(mean: number, random: Random): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
}
