/** What the headers of an answer say about the upstream's patience. */
export interface RateHeaders {
  /** Requests left in the current window. */
  remaining?: number;
  /** Until the window starts anew. */
  resetAfterMs?: number;
  /** How long we are told to wait (`Retry-After`, or the reset of a window in which nothing is left). */
  retryAfterMs?: number;
}

// Above this a "reset" is an epoch in seconds (bluesky, github), below it seconds from now (reddit).
const FIRST_EPOCH_SECONDS = 1_000_000_000;
// No upstream means more; a longer wait is a broken header, and would blind the source for good.
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Reads `Retry-After` and the spellings of rate-limit headers in use. Unreadable values count as absent. */
export function readRateHeaders(headers: Record<string, string>, now: Date): RateHeaders {
  const remaining = numberIn(headers['ratelimit-remaining'] ?? headers['x-ratelimit-remaining']);
  const resetAfterMs = untilReset(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset'], now);
  const told = untilRetry(headers['retry-after'], now);
  const retryAfterMs = told ?? (remaining !== undefined && remaining < 1 ? resetAfterMs : undefined);
  return {
    ...(remaining !== undefined && { remaining }),
    ...(resetAfterMs !== undefined && { resetAfterMs }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function untilReset(text: string | undefined, now: Date): number | undefined {
  const value = numberIn(text);
  if (value === undefined) return undefined;
  return bounded(value >= FIRST_EPOCH_SECONDS ? value * 1000 - now.getTime() : value * 1000);
}

function untilRetry(text: string | undefined, now: Date): number | undefined {
  const seconds = numberIn(text);
  if (seconds !== undefined) return bounded(seconds * 1000);
  const at = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : bounded(at - now.getTime());
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_WAIT_MS);
}
