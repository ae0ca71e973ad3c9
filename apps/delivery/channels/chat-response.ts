import { readRateHeaders } from '#http-out';

/** The response of a chat service. */
export interface ChatResponse {
  status: number;
  headers: Record<string, string>;
  /** The beginning of the body. */
  body: string;
}

/** The result of a delivery, read from a response. */
export interface ChatResult {
  delivered: boolean;
  /** A text for people; empty if the message was delivered. */
  message: string;
  /** True if the destination no longer exists. Then the channel is disabled. */
  isGone: boolean;
  /** The time for which the destination accepts nothing, in ms: see `retryAfterMsOf`. */
  retryAfterMs: number | undefined;
}

const TOO_MANY = 429;
const UNAVAILABLE = 503;
/** Wait after a response 429 that states no time. */
const DEFAULT_WAIT_MS = 30_000;
/** Longest time for which a destination is paused. */
export const MAX_WAIT_MS = 24 * 3_600_000;
/**
 * Minimum wait after an error. If an error states a wait, the attempt is not counted as failed, so a wait of 0 would
 * repeat the attempt without a pause.
 */
const MIN_WAIT_MS = 1000;

/**
 * Reads the result of a delivery from the response of a chat service.
 * @param name the name of the service, for the message
 * @param gone the statuses that mean that the destination no longer exists
 * @param detail the error code in the body, if there is one
 * @param retryAfterSeconds the wait that the body of an error states, if it states one
 */
export function chatResultOf(
  name: string,
  { status, headers }: ChatResponse,
  gone: readonly number[],
  detail = '',
  retryAfterSeconds?: number,
): ChatResult {
  const delivered = status >= 200 && status < 300;
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return {
    delivered,
    message: delivered ? '' : `${name} answered ${status}${detail && ` (${detail})`}${redirect}`,
    isGone: gone.includes(status),
    retryAfterMs: retryAfterMsOf(status, headers, retryAfterSeconds),
  };
}

/**
 * Returns an error code from a body if the code is one word or a number; otherwise an empty text. No other part of a
 * body is shown.
 */
export function errorCode(value: unknown): string {
  return (typeof value === 'string' && /^[\w.-]{1,60}$/.test(value)) || typeof value === 'number'
    ? String(value)
    : '';
}

/** Returns the JSON object in a body; an empty object if the body is anything else. */
export function jsonOf(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Returns the time for which a destination accepts nothing, in ms; undefined if its response states none. For a 429
 * that states none, a default applies. The headers of a successful response can also state a time, if its request has
 * used up the limit of the destination. Of the 5xx, only the headers of a 503 are read.
 * @param inBody the seconds that the body states, if it states them; used only for a 429 and for 5xx, because a
 * successful response contains the stored message, and the other errors are permanent
 */
export function retryAfterMsOf(
  status: number,
  headers: Record<string, string>,
  inBody?: number,
): number | undefined {
  const { retryAfterMs } = readRateHeaders(headers, new Date());
  if (status >= 200 && status < 300) return retryAfterMs;
  // The other errors are permanent. If they stated a wait, the attempt would not be counted, and would be repeated for
  // two days.
  if (status !== TOO_MANY && status < 500) return undefined;
  const stated = waitMs(inBody);
  if (stated !== undefined) return stated;
  if (status === TOO_MANY) return Math.max(retryAfterMs ?? DEFAULT_WAIT_MS, MIN_WAIT_MS);
  return status === UNAVAILABLE && retryAfterMs !== undefined
    ? Math.max(retryAfterMs, MIN_WAIT_MS)
    : undefined;
}

/**
 * Returns the wait that a body states, in ms: at least a second and at most a day; undefined if the body states none.
 */
export function waitMs(seconds: number | undefined): number | undefined {
  if (seconds === undefined || !(seconds >= 0)) return undefined;
  return Math.min(Math.max(Math.ceil(seconds * 1000), MIN_WAIT_MS), MAX_WAIT_MS);
}
