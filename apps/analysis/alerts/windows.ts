import { DateTime } from 'luxon';
import type { Covered } from '../domain/coverage.js';
import type { AlertCondition } from './alert-rules.js';

/** Mentions are counted in steps of this length. */
export const BIN_MS = 5 * 60_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Baselines without the hour of the week go back this far. */
const TRAILING_MS = 7 * DAY_MS;
/** From then on the hour of the week is the baseline. */
const WEEKLY_AFTER_MS = 14 * DAY_MS;
/** As long as events are kept. */
const MOST_WEEKS = 12;
/** A spike alert waits for as much history: in hours, or of the hour of the week. */
const LEAST_HOURS = 24;
const LEAST_WEEKS = 2;

/** A half-open period in ms. Its bounds are multiples of `BIN_MS`. */
export interface Window {
  from: number;
  to: number;
}

/** The start of the five minutes of an instant, in ms. */
export function binOf(ms: number): number {
  return Math.floor(ms / BIN_MS) * BIN_MS;
}

/** The length of a condition's window, in ms. */
export function lengthOf(condition: AlertCondition): number {
  return condition.kind === 'spike' || condition.window === '1h' ? HOUR_MS : DAY_MS;
}

/** The window of a condition that ends at an instant. */
export function windowOf(condition: AlertCondition, to: number): Window {
  return { from: to - lengthOf(condition), to };
}

/** Earlier windows with which a window is compared. */
export interface Baseline {
  /** The latest first. */
  windows: Window[];
  /** A search with fewer known windows is not counted. */
  needed: number;
}

/** When the searches of a keyword began, in ms: the first and the last of them. */
export interface Began {
  first: number;
  last: number;
}

/**
 * The baselines of a window, the best first; the next one is for the case that too little of the one before is known. Of
 * a rule: all windows of its length before it, at most 7 days back. Of a spike alert: the same hour of the weeks before,
 * in the account's zone; the hours of the last 7 days, and only these before there are 14 days of history.
 * @param timeZone IANA
 */
export function baselinesOf(
  condition: AlertCondition,
  current: Window,
  began: Began,
  timeZone: string,
): Baseline[] {
  const since = (windows: Window[]) => windows.filter(({ from }) => from >= began.first);
  const trailing = since(consecutive(current));
  if (condition.kind !== 'spike') return [{ windows: trailing, needed: 1 }];
  const hours = { windows: trailing, needed: LEAST_HOURS };
  if (current.to - began.last < WEEKLY_AFTER_MS) return [hours];
  return [{ windows: since(sameHourOfWeeks(current, timeZone)), needed: LEAST_WEEKS }, hours];
}

function consecutive({ from, to }: Window): Window[] {
  const length = to - from;
  return Array.from({ length: TRAILING_MS / length }, (_, n) => ({
    from: from - (n + 1) * length,
    to: from - n * length,
  }));
}

/** By the wall clock: on a day with 23 or 25 hours, nine o'clock is compared with nine o'clock. */
function sameHourOfWeeks({ from, to }: Window, timeZone: string): Window[] {
  const end = DateTime.fromMillis(to, { zone: timeZone });
  return Array.from({ length: MOST_WEEKS }, (_, n) => {
    const earlier = binOf(end.minus({ weeks: n + 1 }).toMillis());
    return { from: earlier - (to - from), to: earlier };
  });
}

/** Parts of a window shorter than this may be unknown. */
const UNKNOWN_MS = BIN_MS;

/**
 * Whether everything of a window is known.
 * @param covered ordered by `from`; they may overlap
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
