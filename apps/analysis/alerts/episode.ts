import type { AlertCondition } from './alert-rules.js';
import { lengthOf } from './windows.js';

/** No rule and no spike alert fires twice within this time. */
export const MIN_INTERVAL_MS = 60 * 60_000;

/** The last time that a rule fired, and what followed. Times in ms. */
export interface Episode {
  firedAt: number;
  /** The end of the last window that reached the level. */
  aboveUntil: number;
  ended: boolean;
}

/** A window that reached its level. */
export interface Reached {
  /** The end of the window, in ms. */
  to: number;
}

/** What an evaluation found out about one rule. */
export interface Assessed<R extends Reached> {
  /** The window with which a new episode begins. */
  fired: R | undefined;
  /** True if the episode that existed before the evaluation has ended. */
  ended: boolean;
  /** The end of the last window that reached the level; undefined if the rule has never fired. */
  aboveUntil: number | undefined;
}

/**
 * Decides what happened to a rule in one evaluation. An episode ends when no window has reached the level for as long
 * as one window lasts. A window is ignored if it ended before a window that fired or continued an episode, so that late
 * items do not fire a second alert for the same time.
 * @param reached the windows that reached their levels, the earliest first
 * @param now ms
 */
export function assess<R extends Reached>(
  condition: AlertCondition,
  before: Episode | undefined,
  reached: readonly R[],
  now: number,
): Assessed<R> {
  const length = lengthOf(condition);
  let isOpen = before !== undefined && !before.ended;
  let aboveUntil = before?.aboveUntil;
  let ended = false;
  let fired: R | undefined;
  const endBefore = (at: number) => {
    if (!isOpen || aboveUntil === undefined || at - aboveUntil < length) return;
    isOpen = false;
    ended ||= fired === undefined;
  };
  for (const window of reached) {
    if (aboveUntil !== undefined && window.to <= aboveUntil) continue;
    endBefore(window.to);
    const isQuiet = fired !== undefined || (before !== undefined && now < before.firedAt + MIN_INTERVAL_MS);
    if (!isOpen && isQuiet) continue;
    if (!isOpen) fired = window;
    isOpen = true;
    aboveUntil = window.to;
  }
  endBefore(now);
  return { fired, ended, aboveUntil };
}
