import { nextMidnightIn } from '#kernel';
import { parseJson } from '../shared/json-answer.js';
import { numberOf, recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type FetchContext } from '../source.js';

/** The setting with the key of an application. */
export const TOKEN_SETTING = 'SOURCE_STACKOVERFLOW_TOKEN';
/** The name of the daily quota: requests. */
export const QUOTA = 'requests';
/** Returns the end of the quota's day: the next 00:00 UTC. */
export const nextReset = nextMidnightIn('UTC');

const API = 'https://api.stackexchange.com/2.3';
const MAX_WAIT_SECONDS = 86_400;

/** One request: its path and parameters. */
export interface ApiRequest {
  path: string;
  query: Record<string, string>;
}

/**
 * Calls the Stack Exchange API. The bodies of its responses contain the daily quota and requests to wait; both are
 * passed to the lane.
 * @throws UpstreamError
 */
export async function ask(context: FetchContext, key: string, request: ApiRequest): Promise<JsonRecord> {
  const response = await context.http.request({
    url: addressOf(key, request),
    headers: { accept: 'application/json' },
    // All faults of the API have status 400, and the body names the fault.
    accept: [400],
    spends: { quota: QUOTA, points: 1 },
  });
  const answer = recordOf(parseJson('stackoverflow', response.text, response.status));
  if (response.status === 400 || answer?.['error_id'] !== undefined) throw faultOf(answer ?? {}, key);
  if (!answer) throw unknownShape('stackoverflow', 'an object with a list "items"');
  storeWaits(answer, context);
  return answer;
}

/** Returns the address of a request. Reads share a response if their addresses with an empty `key` are equal. */
export function addressOf(key: string, { path, query }: ApiRequest): string {
  return `${API}/${path}?${new URLSearchParams({ ...query, ...(key !== '' && { key }) })}`;
}

function storeWaits(answer: JsonRecord, { http, now }: FetchContext): void {
  const backoffSeconds = numberOf(answer['backoff']) ?? 0;
  if (backoffSeconds > 0) {
    http.holdOff({
      waitMs: backoffSeconds * 1000,
      reason: `stackoverflow asked to wait ${backoffSeconds} s`,
    });
  }
  const remaining = numberOf(answer['quota_remaining']);
  if (remaining !== undefined && remaining <= 0) {
    const reason = 'the requests that stackoverflow allows a day are used up';
    http.holdOff({ waitMs: nextReset(now).getTime() - now.getTime(), reason, quota: QUOTA });
  }
}

function faultOf(answer: JsonRecord, key: string): UpstreamError {
  const name = textOf(answer['error_name']) ?? '';
  const message = textOf(answer['error_message']) ?? '';
  const answered = `stackoverflow answered 400${/^[a-z_]{1,40}$/.test(name) ? ` (${name})` : ''}`;
  switch (name) {
    case 'throttle_violation':
      return throttled(answered, message);
    case 'access_denied':
    case 'key_required':
      return new UpstreamError(
        'forbidden',
        `${answered}: this request requires a key; set ${TOKEN_SETTING}`,
        400,
      );
    case 'access_token_required':
      // The API's equivalent of a 401.
      return new UpstreamError(
        'unauthorized',
        `${answered}: it requires a sign-in; set ${TOKEN_SETTING}`,
        400,
      );
    case 'internal_error':
    case 'temporarily_unavailable':
      return new UpstreamError(
        'server_error',
        `${answered}: the upstream failed; Earshot tries again later`,
        400,
      );
    case 'bad_parameter':
      return badParameter(answered, message, key);
    default:
      return new UpstreamError('unexpected_status', `${answered}: the request was not understood`, 400);
  }
}

// "too many requests from this IP, more requests available in 67194 seconds"
function throttled(answered: string, message: string): UpstreamError {
  const found = /in (\d{1,9}) seconds/.exec(message)?.[1];
  if (found === undefined)
    return new UpstreamError('rate_limited', `${answered}: too many requests, asked to wait`, 400);
  const seconds = Math.min(Number(found), MAX_WAIT_SECONDS);
  const reason = `${answered}: too many requests, asked to wait ${seconds} s`;
  return new UpstreamError('rate_limited', reason, 400, seconds * 1000);
}

// The message is the name of the parameter, or a sentence about it.
function badParameter(answered: string, message: string, key: string): UpstreamError {
  if (key !== '' && /\bkey\b/.test(message)) {
    return new UpstreamError(
      'unauthorized',
      `${answered}: the key was not accepted; check ${TOKEN_SETTING}`,
      400,
    );
  }
  if (/\bsite\b/i.test(message)) {
    return new UpstreamError('not_found', `${answered}: there is no such site; check filters.site`, 400);
  }
  const named = /^[a-z]{1,20}$/.test(message) ? ` (${message})` : '';
  return new UpstreamError('unexpected_status', `${answered}: a parameter was not understood${named}`, 400);
}
