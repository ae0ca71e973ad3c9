import { readRateHeaders } from '#http-out';
import { parseJson } from '../shared/json-answer.js';
import { recordOf, textOf } from '../shared/shape.js';
import { UpstreamError, type FetchContext, type UpstreamRequest, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { askWithTokenAdvice } from '../shared/token-advice.js';

/** The setting that contains the token. */
export const TOKEN_SETTING = 'SOURCE_GITHUB_TOKEN';

const API = 'https://api.github.com';
// GitHub's documentation of the rate limits of the REST API says: "wait for at least one minute".
const SECONDARY_WAIT_MS = 60_000;

/**
 * Calls the REST API.
 * @throws UpstreamError
 */
export function ask(context: FetchContext, token: string, pathAndQuery: string): Promise<unknown> {
  return send(context, token, { url: `${API}${pathAndQuery}` });
}

/**
 * Calls the GraphQL API, which requires a token.
 * @throws UpstreamError
 */
export async function askGraphql(
  context: FetchContext,
  token: string,
  query: string,
  variables: Record<string, unknown>,
): Promise<unknown> {
  return send(context, token, {
    method: 'POST',
    url: `${API}/graphql`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
}

function send({ http, now }: FetchContext, token: string, request: UpstreamRequest): Promise<unknown> {
  const advice =
    token === ''
      ? `it requires a sign-in; set ${TOKEN_SETTING}`
      : `the token was not accepted; check ${TOKEN_SETTING}`;
  return askWithTokenAdvice('github', advice, async () => {
    const response = await http.request({
      ...request,
      headers: {
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...request.headers,
      },
      // The bodies of these statuses contain the reason.
      accept: [403, 422, 429],
    });
    if (response.status >= 300) throw faultOf(response, now);
    return parseJson('github', response.text, response.status);
  });
}

function faultOf({ status, headers, text }: UpstreamResponse, now: Date): UpstreamError {
  const answered = `github answered ${status}`;
  if (status === 422) {
    const reason =
      'the search was not understood, or it names a repository or account that does not exist or is private; check the words and filters of the search';
    return new UpstreamError('unexpected_status', `${answered}: ${reason}`, status);
  }
  const message = messageOf(text);
  if (/secondary rate limit|abuse detection/i.test(message)) {
    // The wait is `Retry-After`, otherwise the time until the used-up window ends, otherwise one minute.
    const waitMs = readRateHeaders(headers, now).retryAfterMs ?? SECONDARY_WAIT_MS;
    return rateLimited(answered, status, 'too many requests in a short time', waitMs);
  }
  const { remaining, retryAfterMs } = readRateHeaders(headers, now);
  if (remaining === 0 || /rate limit exceeded/i.test(message)) {
    return rateLimited(answered, status, 'too many requests', retryAfterMs);
  }
  return statusError('github', [], status, headers, now);
}

function rateLimited(
  answered: string,
  status: number,
  what: string,
  waitMs: number | undefined,
): UpstreamError {
  const wait = waitMs === undefined ? 'asked to wait' : `asked to wait ${Math.ceil(waitMs / 1000)} s`;
  return new UpstreamError('rate_limited', `${answered}: ${what}, ${wait}`, status, waitMs);
}

function messageOf(text: string): string {
  try {
    return textOf(recordOf(JSON.parse(text))?.['message']) ?? '';
  } catch {
    return '';
  }
}
