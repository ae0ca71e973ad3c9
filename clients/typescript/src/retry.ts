import { EarshotConnectionError, EarshotError } from './errors.js';

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;
/** The longest time of a timer, 24.8 days. A timer with a longer time would end immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const REPEATABLE_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** How a client repeats failed requests. */
export interface RetryOptions {
  /** Maximum number of attempts after the first attempt. */
  retries: number;
  /** If `Retry-After` is longer, the call throws without waiting. */
  longestRetryAfterSeconds: number;
  /** Whether the request can be sent again although the first attempt can have had an effect. */
  isRepeatable: boolean;
  signal: AbortSignal | undefined;
}

/**
 * Runs an attempt again after 429 and `IDEMPOTENCY_IN_PROGRESS`; if `isRepeatable`, also after 500, 502, 503, 504 and
 * connection errors. Waits as long as `Retry-After` says, otherwise up to 0.5, 1, 2, 4 and then 8 seconds.
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      options.signal?.throwIfAborted();
      const wait = tried < options.retries ? waitMs(error, tried, options) : undefined;
      if (wait === undefined) throw error;
      await pause(wait, options.signal);
    }
  }
}

/** Returns the wait before the next attempt; undefined if the attempt must not be repeated. */
function waitMs(error: unknown, tried: number, options: RetryOptions): number | undefined {
  if (error instanceof EarshotConnectionError) return options.isRepeatable ? backoffMs(tried) : undefined;
  if (!(error instanceof EarshotError) || !isTemporary(error, options.isRepeatable)) return undefined;
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === undefined) return backoffMs(tried);
  return retryAfterSeconds > options.longestRetryAfterSeconds ? undefined : retryAfterSeconds * 1000;
}

/**
 * Tests whether a request can be repeated after the error. 429 and `IDEMPOTENCY_IN_PROGRESS` mean that the request has
 * had no effect, so every request can be repeated after them.
 */
function isTemporary({ status, code }: EarshotError, isRepeatable: boolean): boolean {
  if (status === 429 || code === 'IDEMPOTENCY_IN_PROGRESS') return true;
  return isRepeatable && REPEATABLE_STATUSES.has(status);
}

/**
 * Returns a random time between half of the wait and the whole wait, so that many clients do not retry at the same
 * time.
 */
export function backoffMs(tried: number): number {
  const max = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tried);
  return max / 2 + Math.random() * (max / 2);
}

/** Waits, at most `MAX_TIMER_MS`. @throws the reason of the signal if the signal is aborted */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
