import { readRateHeaders } from '#http-out';
import { parseJson } from '../shared/json-answer.js';
import { listOf, recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type UpstreamHttp, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';

/** The required setting: the bearer token of an application. */
export const TOKEN_SETTING = 'SOURCE_X_TOKEN';

/** Earshot tries again after this time, because somebody may have bought credits by then. */
const NO_CREDITS_WAIT_MS = 3_600_000;
const USAGE_CAP_WAIT_MS = 24 * 3_600_000;

/** The operator's settings. */
export interface XSettings {
  /** The bearer token of an application (developer console, Keys and tokens). */
  token: string;
}

/** What a request needs from the context of a read or a lookup. */
export interface AskContext {
  http: UpstreamHttp;
  now: Date;
}

/** The error if X refuses a request as invalid. */
export class RefusedRequest extends UpstreamError {
  constructor(
    /** The faulty parameters, with X's names: `query`, `pagination_token`. */
    readonly parameters: readonly string[],
  ) {
    const named = parameters.length === 0 ? '' : ` (${parameters.join(', ')})`;
    super(
      'unexpected_status',
      `x answered 400: the request was not understood${named}; check the words and filters of the search`,
      400,
    );
  }
}

/**
 * Sends a request with the application's token, and returns the JSON object in the response.
 * @throws UpstreamError, `RefusedRequest` for a 400
 */
export async function ask({ http, now }: AskContext, { token }: XSettings, url: string): Promise<JsonRecord> {
  const response = await http.request({
    url,
    headers: { accept: 'application/json', authorization: `Bearer ${token}` },
    // The bodies of these statuses contain the reason.
    accept: [400, 402, 403, 429],
  });
  if (response.status >= 300) throw faultOf(response, http, now);
  const answer = recordOf(parseJson('x', response.text, response.status));
  if (!answer) throw unknownShape('x', 'an object');
  return answer;
}

function faultOf({ status, headers, text }: UpstreamResponse, http: UpstreamHttp, now: Date): UpstreamError {
  const problem = problemOf(text);
  const type = problemType(problem);
  if (status === 402 || type === 'credits') {
    const reason = `x answered ${status}: the account of ${TOKEN_SETTING} has no credits left; buy some in X's developer console`;
    return spent(http, reason, status, NO_CREDITS_WAIT_MS);
  }
  if (type === 'usage-capped') {
    const reason = `x answered ${status}: the month's tweets are used up; raise the cap in X's developer console or wait for the next month`;
    return spent(http, reason, status, readRateHeaders(headers, now).resetAfterMs ?? USAGE_CAP_WAIT_MS);
  }
  if (status === 400) return new RefusedRequest(parametersOf(problem));
  if (type === 'client-forbidden') {
    const reason = `the application of ${TOKEN_SETTING} has no permission to send this request; check its project and its access in X's developer console`;
    return new UpstreamError('forbidden', `x answered ${status}: ${reason}`, status);
  }
  return statusError('x', [TOKEN_SETTING], status, headers, now);
}

function spent(http: UpstreamHttp, reason: string, status: number, waitMs: number): UpstreamError {
  http.holdOff({ waitMs, reason });
  return new UpstreamError('quota_spent', reason, status, waitMs);
}

/** Returns the last part of a problem's `type`. The type is a URL. Its host is not compared, because X has changed it before. */
export function problemType(problem: JsonRecord | undefined): string {
  return textOf(problem?.['type'])?.split('/').at(-1) ?? '';
}

// The body of a 429 can be plain text.
function problemOf(text: string): JsonRecord | undefined {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function parametersOf(problem: JsonRecord | undefined): string[] {
  const names = (listOf(problem?.['errors']) ?? []).flatMap((error) =>
    Object.keys(recordOf(recordOf(error)?.['parameters']) ?? {}),
  );
  return [...new Set(names)].filter((name) => /^[a-z._]{1,40}$/.test(name)).slice(0, 5);
}
