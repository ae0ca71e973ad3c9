const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait after the first attempt, the wait after the second attempt, and so on. */
export const WAITS_MS = [30 * SECOND, 120 * SECOND, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR];
/** A delivery is given up after this time, in ms. */
export const GIVE_UP_AFTER_MS = 48 * HOUR;
/** An endpoint is disabled if all its attempts have failed for this time. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/**
 * Returns the time of the next attempt after a failure.
 * @param attempts number of attempts so far, at least 1
 * @param firstAt when the delivery was created, in ms
 * @returns ms since the epoch, or undefined if the delivery is given up
 */
export function nextAttemptAt(attempts: number, firstAt: number, now: number): number | undefined {
  const wait = WAITS_MS[attempts - 1];
  if (wait === undefined) return undefined;
  return postponed(wait, firstAt, now);
}

/**
 * Returns the time of the next attempt of a delivery that waits, for example because its destination asked the sender
 * to wait.
 * @param waitMs the wait from now on
 * @param firstAt when the delivery was created, in ms
 * @returns ms since the epoch, or undefined if the delivery is given up
 */
export function postponed(waitMs: number, firstAt: number, now: number): number | undefined {
  const at = now + waitMs;
  return at - firstAt > GIVE_UP_AFTER_MS ? undefined : at;
}
