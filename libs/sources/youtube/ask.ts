import { nextMidnightIn } from '#kernel';
import { parseJson } from '../shared/json-answer.js';
import { listOf, recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import {
  UpstreamError,
  type DailyQuota,
  type UpstreamErrorKind,
  type UpstreamHttp,
  type UpstreamResponse,
} from '../source.js';
import { statusError } from '../shared/status-error.js';

/** The required setting: an API key. */
export const KEY_SETTING = 'SOURCE_YOUTUBE_TOKEN';

/** The operator's settings. */
export interface YoutubeSettings {
  /** An API key of a Google Cloud project in which the YouTube Data API v3 is enabled. */
  key: string;
}

const API = 'https://www.googleapis.com/youtube/v3';
const nextReset = nextMidnightIn('America/Los_Angeles');

/**
 * Google's daily limits of a project. `search` counts searches, and `units` counts all other requests. They are reset
 * at midnight in California.
 */
export const QUOTAS = {
  search: { points: 100, nextReset },
  units: { points: 10_000, nextReset },
} satisfies Record<string, DailyQuota>;

/** The part of a read's or a lookup's context that requests need. */
export interface AskContext {
  http: UpstreamHttp;
  now: Date;
}

/** One request. */
export interface ApiRequest {
  /** The path below `/youtube/v3/`. */
  method: 'search' | 'videos' | 'commentThreads';
  query: Record<string, string>;
}

/** A refused request, with YouTube's reason. */
export class RefusedByYoutube extends UpstreamError {
  constructor(
    kind: UpstreamErrorKind,
    message: string,
    statusCode: number,
    retryAfterMs: number | undefined,
    /** YouTube's reason, for example `commentsDisabled`; empty if there is none. */
    readonly reason: string,
  ) {
    super(kind, message, statusCode, retryAfterMs);
  }
}

/**
 * Sends a request with the configured key, and returns the response's object.
 * @throws UpstreamError
 */
export async function ask(
  { http, now }: AskContext,
  { key }: YoutubeSettings,
  { method, query }: ApiRequest,
): Promise<JsonRecord> {
  const response = await http.request({
    url: `${API}/${method}?${new URLSearchParams({ ...query, key })}`,
    headers: { accept: 'application/json' },
    // The bodies of these statuses contain the reason.
    accept: [400, 403, 404, 429],
    spends: { quota: quotaOf(method), points: 1 },
  });
  if (response.status >= 300) throw faultOf(response, http, now, quotaOf(method));
  const answer = recordOf(parseJson('youtube', response.text, response.status));
  if (!answer) throw unknownShape('youtube', 'an object');
  return answer;
}

function quotaOf(method: ApiRequest['method']): keyof typeof QUOTAS {
  return method === 'search' ? 'search' : 'units';
}

function faultOf(
  { status, headers, text }: UpstreamResponse,
  http: UpstreamHttp,
  now: Date,
  quota: keyof typeof QUOTAS,
): RefusedByYoutube {
  const { reason, details } = problemOf(text);
  const answered = `youtube answered ${status}`;
  const refused = (kind: UpstreamErrorKind, why: string, retryAfterMs?: number) =>
    new RefusedByYoutube(kind, `${answered}: ${why}`, status, retryAfterMs, reason);
  if (isDailyQuota(reason, details)) {
    const waitMs = nextReset(now).getTime() - now.getTime();
    const what = quota === 'search' ? 'searches' : 'units';
    const why = `the day's ${what} of the key are used up; new ones are allowed from midnight in California`;
    http.holdOff({ waitMs, reason: `${answered}: ${why}`, quota });
    return refused('quota_spent', why, waitMs);
  }
  if (RATE_REASONS.has(reason)) {
    const { message, retryAfterMs } = statusError('youtube', [], 429, headers, now);
    return refused('rate_limited', message.replace('youtube answered 429: ', ''), retryAfterMs);
  }
  if (KEY_REASONS.has(reason) || details.some((detail) => KEY_REASONS.has(detail))) {
    return refused('unauthorized', `the API key was not accepted; check ${KEY_SETTING}`);
  }
  if (OFF_REASONS.has(reason) || details.some((detail) => OFF_REASONS.has(detail))) {
    const where = 'turn it on in the Google Cloud project of the key, and look at the key’s restrictions';
    return refused(
      'forbidden',
      `the key of ${KEY_SETTING} has no access to the YouTube Data API v3; ${where}`,
    );
  }
  const { kind, message, retryAfterMs } = statusError('youtube', [KEY_SETTING], status, headers, now);
  return new RefusedByYoutube(kind, message, status, retryAfterMs, reason);
}

const QUOTA_REASONS = new Set(['quotaExceeded', 'dailyLimitExceeded']);
const RATE_REASONS = new Set(['rateLimitExceeded', 'userRateLimitExceeded']);
const KEY_REASONS = new Set([
  ...['keyInvalid', 'keyExpired', 'API_KEY_INVALID', 'API_KEY_EXPIRED', 'dailyLimitExceededUnreg'],
]);
const OFF_REASONS = new Set([
  ...['accessNotConfigured', 'SERVICE_DISABLED', 'API_KEY_SERVICE_BLOCKED'],
  ...['ipRefererBlocked', 'API_KEY_IP_ADDRESS_BLOCKED', 'API_KEY_HTTP_REFERRER_BLOCKED'],
]);

// In Google's newer errors, `rateLimitExceeded` can mean the limit of a day or of a minute. Only the details say which.
function isDailyQuota(reason: string, details: readonly string[]): boolean {
  return QUOTA_REASONS.has(reason) || details.some((detail) => /PerDay/i.test(detail));
}

// Only the codes of reasons are read, because messages can contain HTML.
function problemOf(text: string): { reason: string; details: string[] } {
  try {
    const error = recordOf(recordOf(JSON.parse(text))?.['error']);
    const first = recordOf(listOf(error?.['errors'])?.[0]);
    const details = (listOf(error?.['details']) ?? []).flatMap((entry) => {
      const detail = recordOf(entry);
      const limit = recordOf(detail?.['metadata'])?.['quota_limit'];
      return [textOf(detail?.['reason']), textOf(limit)].filter((word) => word !== undefined);
    });
    return { reason: textOf(first?.['reason']) ?? '', details };
  } catch {
    return { reason: '', details: [] };
  }
}
