/** Rate limits in the headers of a response. A key is absent if no header states it. Times are at most 24 hours. */
export interface RateHeaders {
  /** Requests left in the current window. */
  remaining?: number;
  /** Time until the next window. */
  resetAfterMs?: number;
  /** How long the upstream asks to wait (`Retry-After`, or the reset of a used up window). */
  retryAfterMs?: number;
}

// A larger "reset" is a time in epoch seconds (bluesky, github); a smaller one is a number of seconds from now
// (reddit).
const FIRST_EPOCH_SECONDS = 1_000_000_000;
// Maximum wait. Longer waits are shortened to this time, because a broken header must not disable the source.
const MAX_WAIT_MS = 24 * 3_600_000;

/** Reads `Retry-After` and the known spellings of rate-limit headers. Unreadable values count as absent. */
export function readRateHeaders(headers: Record<string, string>, now: Date): RateHeaders {
  const remaining = numberIn(spelled(headers, 'remaining'));
  const resetAfterMs = untilReset(spelled(headers, 'reset'), now);
  const waits = untilRetry(headers['retry-after'], now);
  const retryAfterMs = waits ?? (remaining !== undefined && remaining < 1 ? resetAfterMs : undefined);
  return {
    ...(remaining !== undefined && { remaining }),
    ...(resetAfterMs !== undefined && { resetAfterMs }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/**
 * Returns the value of a header in any of its three spellings. `ratelimit-…` is from the IETF's draft, most upstreams
 * use `x-ratelimit-…`, and X and Product Hunt use `x-rate-limit-…`.
 */
function spelled(headers: Record<string, string>, what: string): string | undefined {
  return headers[`ratelimit-${what}`] ?? headers[`x-ratelimit-${what}`] ?? headers[`x-rate-limit-${what}`];
}

function untilReset(text: string | undefined, now: Date): number | undefined {
  const value = numberIn(text);
  // Mastodon sends an ISO 8601 time.
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
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_WAIT_MS);
}
