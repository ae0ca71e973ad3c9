/** The kinds of failure that say something about the upstream as a whole, not about one search. */
const OUTAGES = new Set([
  'rate_limited',
  'unauthorized',
  'server_error',
  'timeout',
  'network',
  'not_parsable',
]);

/**
 * Kinds that say something about one search (a private subreddit, one strange item), or, where search after search
 * fails so, about the upstream: a door shut on us, a changed answer.
 */
const SUSPICIOUS = new Set(['forbidden', 'truncated', 'unknown_shape']);
/** So many searches in a row have to fail in a suspicious way before the lane waits. */
const SUSPICIOUS_SEARCHES = 3;

const FIRST_WAIT_MS = 5_000;
/** Credentials do not heal by themselves, and a 429 that names no time asks for more than a moment. */
const FIRST_LONG_WAIT_MS = 30_000;
const PATIENT = new Set(['rate_limited', 'quota_spent', 'unauthorized', 'frozen']);
const LONGEST_WAIT_MS = 15 * 60_000;

/** True when a failure of this kind may be about one search only, or about the upstream as a whole. */
export function isSuspicious(kind: string): boolean {
  return SUSPICIOUS.has(kind);
}

/**
 * True when a failure of this kind makes the whole lane wait.
 * @param suspects different searches that have failed in a suspicious way since one went well, this one among them
 */
export function blocksLane(kind: string, backoff: 'lane' | 'search', suspects = 0): boolean {
  if (backoff !== 'lane') return false;
  return OUTAGES.has(kind) || (SUSPICIOUS.has(kind) && suspects >= SUSPICIOUS_SEARCHES);
}

/**
 * How long to wait after the n-th failure in a row (from 1), in ms: what the upstream asked for, else doubling.
 * @param random 0 to 1: spreads the ends of waits that began together over a quarter of their length
 */
export function waitAfter(
  kind: string,
  failures: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  const first = PATIENT.has(kind) ? FIRST_LONG_WAIT_MS : FIRST_WAIT_MS;
  const wait = Math.min(LONGEST_WAIT_MS, first * 2 ** Math.min(failures - 1, 10));
  return Math.round(wait * (1 + random / 4));
}
