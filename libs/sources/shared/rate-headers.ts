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
  const remaining = numberIn(spelled(headers, 'remaining'));
  const resetAfterMs = untilReset(spelled(headers, 'reset'), now);
  const told = untilRetry(headers['retry-after'], now);
  const retryAfterMs = told ?? (remaining !== undefined && remaining < 1 ? resetAfterMs : undefined);
  return {
    ...(remaining !== undefined && { remaining }),
    ...(resetAfterMs !== undefined && { resetAfterMs }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** `ratelimit-…` is the IETF's draft, `x-ratelimit-…` most upstreams', `x-rate-limit-…` X's and Product Hunt's. */
function spelled(headers: Record<string, string>, what: string): string | undefined {
  return headers[`ratelimit-${what}`] ?? headers[`x-ratelimit-${what}`] ?? headers[`x-rate-limit-${what}`];
}

function untilReset(text: string | undefined, now: Date): number | undefined {
  const value = numberIn(text);
  // Mastodon writes an ISO 8601 time.
  if (value === undefined) return untilInstant(text, now);
  return bounded(value >= FIRST_EPOCH_SECONDS ? value * 1000 - now.getTime() : value * 1000);
}

function untilRetry(text: string | undefined, now: Date): number | undefined {
  const seconds = numberIn(text);
  return seconds === undefined ? untilInstant(text, now) : bounded(seconds * 1000);
}

function untilInstant(text: string | undefined, now: Date): number | undefined {
  const at = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : bounded(at - now.getTime());
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_WAIT_MS);
}
