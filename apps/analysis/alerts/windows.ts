import { DateTime } from 'luxon';
import type { Covered } from '../domain/coverage.js';
import type { AlertCondition } from './alert-rules.js';

/** Length of a bin. Mentions are counted in bins. */
export const BIN_MS = 5 * 60_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far a baseline goes back if it contains all earlier windows, and not only the same hour of earlier weeks. */
const TRAILING_MS = 7 * DAY_MS;
/** A spike alert with at least this much history can use the same hour of earlier weeks as its baseline. */
const WEEKLY_AFTER_MS = 14 * DAY_MS;
/** Maximum number of earlier weeks in a baseline. Events are kept for about this number of weeks. */
const MAX_WEEKS = 12;
/** The minimum history of a spike alert: this number of hours, or the same hour of this number of weeks. */
const MIN_HOURS = 24;
const MIN_WEEKS = 2;

/** A half-open period in ms. Its bounds are multiples of `BIN_MS`. */
export interface Window {
  from: number;
  to: number;
}

/** Returns the start of the bin that contains an instant, in ms. */
export function binOf(ms: number): number {
  return Math.floor(ms / BIN_MS) * BIN_MS;
}

/** Returns the length of a condition's window, in ms. */
export function lengthOf(condition: AlertCondition): number {
  return condition.kind === 'spike' || condition.window === '1h' ? HOUR_MS : DAY_MS;
}

/** Returns the window that ends at an instant and has the length of a condition. */
export function windowOf(condition: AlertCondition, to: number): Window {
  return { from: to - lengthOf(condition), to };
}

/** The earlier windows with which a window is compared. */
export interface Baseline {
  /** The latest first. */
  windows: Window[];
  /** A search is counted only if it covered at least this number of the windows. */
  needed: number;
}

/** When the keyword or the first search that a rule counts began, and when the last of these searches began, in ms. */
export interface SearchStarts {
  first: number;
  last: number;
}

/**
 * Returns the baselines of a window, the best first. If too little of a baseline is known, the next baseline is used. A
 * rule has one baseline: all earlier windows of its length, at most 7 days back. A spike alert has two baselines: the
 * same hour of earlier weeks in the account's zone, and the hours of the last 7 days. If a search of the keyword began
 * less than 14 days ago, the spike alert has only the second baseline.
 * @param timeZone IANA
 */
export function baselinesOf(
  condition: AlertCondition,
  current: Window,
  began: SearchStarts,
  timeZone: string,
): Baseline[] {
  const since = (windows: Window[]) => windows.filter(({ from }) => from >= began.first);
  const trailing = since(consecutive(current));
  if (condition.kind !== 'spike') return [{ windows: trailing, needed: 1 }];
  const hours = { windows: trailing, needed: MIN_HOURS };
  if (current.to - began.last < WEEKLY_AFTER_MS) return [hours];
  return [{ windows: since(sameHourOfWeeks(current, timeZone)), needed: MIN_WEEKS }, hours];
}

function consecutive({ from, to }: Window): Window[] {
  const length = to - from;
  return Array.from({ length: TRAILING_MS / length }, (_, n) => ({
    from: from - (n + 1) * length,
    to: from - n * length,
  }));
}

/**
 * Returns the same hour of earlier weeks, by the wall clock: for example always nine o'clock, even if a day between had
 * 23 or 25 hours.
 */
function sameHourOfWeeks({ from, to }: Window, timeZone: string): Window[] {
  const end = DateTime.fromMillis(to, { zone: timeZone });
  return Array.from({ length: MAX_WEEKS }, (_, n) => {
    const earlier = binOf(end.minus({ weeks: n + 1 }).toMillis());
    return { from: earlier - (to - from), to: earlier };
  });
}

/** A window counts as known if at most this much of the window is not covered. */
const UNKNOWN_MS = BIN_MS;

/**
 * Returns whether a window is known.
 * @param covered the covered periods, ordered by `from`; periods can overlap
 */
export function isKnown({ from, to }: Window, covered: readonly Covered[]): boolean {
  let known = from;
  let unknown = 0;
  for (const one of covered) {
    if (one.to <= known) continue;
    if (one.from >= to) break;
    unknown += Math.max(0, one.from - known);
    known = one.to;
    if (known >= to || unknown > UNKNOWN_MS) break;
  }
  return unknown + Math.max(0, to - known) <= UNKNOWN_MS;
}
