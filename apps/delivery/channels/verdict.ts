import { readRateHeaders } from '#http-out';

/** The answer of a chat service. */
export interface ChatAnswer {
  status: number;
  headers: Record<string, string>;
  /** The beginning of the body. */
  body: string;
}

/** What an answer means. */
export interface Verdict {
  delivered: boolean;
  /** For people; empty if it was delivered. */
  message: string;
  /** True if the destination is gone for good: the channel is disabled. */
  isGone: boolean;
  /** How long the destination accepts nothing, in ms; undefined if it does not say so. */
  retryAfterMs: number | undefined;
}

const TOO_MANY = 429;
const UNAVAILABLE = 503;
/** For an answer 429 that names no time. */
const USUAL_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 24 * 3_600_000;

/**
 * The verdict of a chat service that answers with HTTP statuses.
 * @param name of the service, for the message
 * @param gone the statuses with which it says that the destination does not exist any more
 * @param detail an error code of the service from the body, if there is one
 * @param retryAfterSeconds from the body, if it is there
 */
export function verdictOf(
  name: string,
  { status, headers }: ChatAnswer,
  gone: readonly number[],
  detail = '',
  retryAfterSeconds?: number,
): Verdict {
  const delivered = status >= 200 && status < 300;
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return {
    delivered,
    message: delivered ? '' : `${name} answered ${status}${detail && ` (${detail})`}${redirect}`,
    isGone: gone.includes(status),
    retryAfterMs: waitOf(status, headers, retryAfterSeconds),
  };
}

/** The service's own name of an error, if it is one word: nothing else of a body is repeated. */
export function errorCode(value: unknown): string {
  return (typeof value === 'string' && /^[\w.-]{1,60}$/.test(value)) || typeof value === 'number'
    ? String(value)
    : '';
}

/** The body as an object of JSON; empty if it is something else. */
export function jsonOf(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * How long a destination accepts nothing, in ms; undefined if it does not say so. Also a success can say that the
 * window is used up.
 * @param inBody seconds, if the body names them
 */
export function waitOf(status: number, headers: Record<string, string>, inBody?: number): number | undefined {
  const { retryAfterMs } = readRateHeaders(headers, new Date());
  const named =
    inBody !== undefined && inBody >= 0 ? Math.min(Math.ceil(inBody * 1000), LONGEST_WAIT_MS) : retryAfterMs;
  if (status === TOO_MANY) return named ?? USUAL_WAIT_MS;
  return status === UNAVAILABLE || (status >= 200 && status < 300) ? retryAfterMs : undefined;
}
