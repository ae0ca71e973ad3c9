/** The kinds of failure that say something about the upstream as a whole, not about one search. */
const OUTAGES = new Set([
  'rate_limited',
  'unauthorized',
  'server_error',
  'timeout',
  'network',
  'not_parsable',
]);

const FIRST_WAIT_MS = 5_000;
/** Credentials do not heal by themselves, and a 429 that names no time asks for more than a moment. */
const FIRST_LONG_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 15 * 60_000;

/** True when a failure of this kind makes the whole lane wait. */
export function blocksLane(kind: string, backoff: 'lane' | 'search'): boolean {
  return backoff === 'lane' && OUTAGES.has(kind);
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
  const first = kind === 'rate_limited' || kind === 'unauthorized' ? FIRST_LONG_WAIT_MS : FIRST_WAIT_MS;
  const wait = Math.min(LONGEST_WAIT_MS, first * 2 ** Math.min(failures - 1, 10));
  return Math.round(wait * (1 + random / 4));
}
