/** Kinds of failure that concern the upstream as a whole, not one search. */
const OUTAGES = new Set([
  'rate_limited',
  'unauthorized',
  'server_error',
  'timeout',
  'network',
  'not_parsable',
]);

/**
 * Kinds that concern one search (a private subreddit, one strange item). If several searches in a row fail in this way,
 * the whole upstream is concerned: it blocks Earshot, or its response has changed.
 */
const SUSPICIOUS = new Set(['forbidden', 'truncated', 'unknown_shape']);
/** The lane waits when this number of searches in a row has failed with a kind for which `isSuspicious` is true. */
const SUSPICIOUS_SEARCHES = 3;

const FIRST_WAIT_MS = 5_000;
/** First wait after failures that rarely end within seconds: see `LONG_WAIT_KINDS`. */
const FIRST_LONG_WAIT_MS = 30_000;
const LONG_WAIT_KINDS = new Set(['rate_limited', 'quota_spent', 'unauthorized', 'frozen']);
const MAX_WAIT_MS = 15 * 60_000;

/** Returns true if a failure of this kind can concern only one search, or the upstream as a whole. */
export function isSuspicious(kind: string): boolean {
  return SUSPICIOUS.has(kind);
}

/**
 * Returns true if a failure of this kind makes the whole lane wait.
 * @param suspects number of different searches, including this one, that have failed with a kind for which
 * `isSuspicious` is true since the last success
 */
export function blocksLane(kind: string, backoff: 'lane' | 'search', suspects = 0): boolean {
  if (backoff !== 'lane') return false;
  return OUTAGES.has(kind) || (SUSPICIOUS.has(kind) && suspects >= SUSPICIOUS_SEARCHES);
}

/**
 * Returns the wait after the n-th failure in a row (from 1), in ms: the time that the upstream asked for. If the
 * upstream asked for none, the wait doubles with each failure, up to 15 minutes, and a random part is added.
 * @param random 0 to 1: spreads the ends of waits that began together over a quarter of their length
 */
export function waitAfter(
  kind: string,
  failures: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  const first = LONG_WAIT_KINDS.has(kind) ? FIRST_LONG_WAIT_MS : FIRST_WAIT_MS;
  const wait = Math.min(MAX_WAIT_MS, first * 2 ** Math.min(failures - 1, 10));
  return Math.round(wait * (1 + random / 4));
}
