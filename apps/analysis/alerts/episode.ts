import type { AlertCondition } from './alert-rules.js';
import { lengthOf } from './windows.js';

/** No rule and no spike alert fires twice within this time. */
export const MIN_INTERVAL_MS = 60 * 60_000;

/** The latest episode of a rule. An episode begins when the rule fires. Times are in ms. */
export interface Episode {
  firedAt: number;
  /** The end of the last window that fired the rule or continued the episode. */
  aboveUntil: number;
  ended: boolean;
}

/** A window that reached its threshold. */
export interface ReachedEnd {
  /** The end of the window, in ms. */
  to: number;
}

/** The result of an evaluation for one rule. */
export interface EpisodeChange<R extends ReachedEnd> {
  /** The window that begins a new episode; undefined if the rule does not fire. */
  fired: R | undefined;
  /**
   * The first window of an episode that cannot fire yet, because the rule fired less than 60 minutes ago. If several
   * episodes wait, this is the latest, and the earlier ones never fire. Otherwise each would delay the next alert by 60
   * minutes, and the latest alert would come hours late.
   */
  waiting: R | undefined;
  /** True if the episode that existed before the evaluation has ended. */
  ended: boolean;
  /** The end of the last window that fired the rule or continued an episode; undefined if the rule has never fired. */
  aboveUntil: number | undefined;
}

/**
 * Decides in one evaluation whether a rule fires, and whether its episode ends. An episode ends when the length of one
 * window has passed since `aboveUntil`. A window that ends at or before `aboveUntil` is ignored, so that late items do
 * not fire a second alert for the same time. A window that ends less than the length of one window after
 * `aboveUntil` continues the episode, even if the episode has ended already: the mentions of this window were found late,
 * for example after an outage of the source.
 * @param reached the windows that reached their thresholds, the earliest first
 * @param now ms
 */
export function evaluateEpisode<R extends ReachedEnd>(
  condition: AlertCondition,
  previous: Episode | undefined,
  reached: readonly R[],
  now: number,
): EpisodeChange<R> {
  const windowMs = lengthOf(condition);
  const isSuppressed = previous !== undefined && now < previous.firedAt + MIN_INTERVAL_MS;
  let aboveUntil = previous?.aboveUntil;
  let fired: R | undefined;
  let waiting: R | undefined;
  let waitingUntil = -Infinity;
  for (const window of reached) {
    if (aboveUntil !== undefined && window.to <= aboveUntil) continue;
    if (aboveUntil === undefined || window.to - aboveUntil >= windowMs) {
      if (fired || isSuppressed) {
        if (window.to - waitingUntil >= windowMs) waiting = window;
        waitingUntil = window.to;
        continue;
      }
      fired = window;
    }
    aboveUntil = window.to;
  }
  const isOver = fired !== undefined || waiting !== undefined || (aboveUntil ?? now) + windowMs <= now;
  return { fired, waiting, ended: previous !== undefined && !previous.ended && isOver, aboveUntil };
}
