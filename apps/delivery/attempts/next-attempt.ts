import { nextAttemptAt, postponed } from '../domain/retry-schedule.js';
import type { AttemptResult } from './delivery.js';
import { GONE } from './endpoints.js';

/** Returns whether the destination asked the sender to wait. Such an attempt does not count in the retry schedule. */
export function isPostponed({
  delivered,
  retryAfterMs,
}: Pick<AttemptResult, 'delivered' | 'retryAfterMs'>): boolean {
  return !delivered && retryAfterMs !== undefined;
}

/** Returns the time of the next attempt, in ms; undefined if the delivery has succeeded, or is given up. */
export function nextOf(result: AttemptResult): number | undefined {
  const { delivery, delivered, statusCode, at, retryAfterMs } = result;
  if (delivered || result.gone !== undefined || (statusCode === GONE && !delivery.destination))
    return undefined;
  if (retryAfterMs !== undefined) return postponed(retryAfterMs, delivery.firstAt, at);
  return nextAttemptAt(delivery.attempts + 1, delivery.firstAt, at);
}
