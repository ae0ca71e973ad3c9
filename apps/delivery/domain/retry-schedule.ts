const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between attempts: the fast lane (two), then the slow lane (five). */
const WAITS_MS = [30 * SECOND, 120 * SECOND, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR];
const GIVE_UP_AFTER_MS = 48 * HOUR;
/** Nothing but failures for so long disables an endpoint. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/**
 * When a failed delivery is tried again.
 * @param attempts attempts made so far, at least 1
 * @param firstAt when the first of them was, in ms
 * @returns ms since the epoch, or undefined when it is given up
 */
export function nextAttemptAt(attempts: number, firstAt: number, now: number): number | undefined {
  const wait = WAITS_MS[attempts - 1];
  if (wait === undefined) return undefined;
  const at = now + wait;
  return at - firstAt > GIVE_UP_AFTER_MS ? undefined : at;
}
