import { readRateHeaders } from '#http-out';
import { parseJson } from '../shared/json-answer.js';
import { listOf, numberOf, recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import { UpstreamError, type FetchContext, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { askWithTokenAdvice } from '../shared/token-advice.js';
import { settingsInUse, withToken, type ProducthuntSettings } from './sign-in.js';

const ENDPOINT = 'https://api.producthunt.com/v2/api/graphql';

/**
 * Calls the GraphQL API and returns its `data`.
 * @throws UpstreamError also if a response with status 200 has no `data`
 */
export function ask(
  context: FetchContext,
  settings: ProducthuntSettings,
  query: string,
  variables: Record<string, unknown>,
): Promise<JsonRecord> {
  const advice = `the credentials were not accepted; check ${settingsInUse(settings)}`;
  return askWithTokenAdvice('producthunt', advice, () =>
    withToken(context, settings, async (token) => {
      const response = await context.http.request({
        method: 'POST',
        url: ENDPOINT,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ query, variables }),
        // The bodies of these statuses contain the reason.
        accept: [403, 429],
      });
      if (response.status >= 300) throw faultOfStatus(response, context.now);
      return dataOf(parseJson('producthunt', response.text, response.status), response, context.now);
    }),
  );
}

function dataOf(body: unknown, response: UpstreamResponse, now: Date): JsonRecord {
  const answer = recordOf(body);
  const data = recordOf(answer?.['data']);
  if (data) return data;
  const error = errorOf(answer);
  if (!error) throw unknownShape('producthunt', 'an object with "data"');
  switch (textOf(error['error'])) {
    case 'rate_limit_reached':
      throw rateLimited(response, error, now);
    case 'invalid_oauth_token':
      throw new UpstreamError('unauthorized', 'producthunt answered 200: the token was refused', 200);
    default:
      throw new UpstreamError(
        'unexpected_status',
        'producthunt answered 200 with a fault: the request was not understood',
        200,
      );
  }
}

/** Returns the error of a response. The API sends a list `errors`; its older parts send only the error. */
function errorOf(answer: JsonRecord | undefined): JsonRecord | undefined {
  return recordOf(listOf(answer?.['errors'])?.[0]) ?? (answer?.['error'] === undefined ? undefined : answer);
}

function faultOfStatus(response: UpstreamResponse, now: Date): UpstreamError {
  const { status, headers, text } = response;
  const isPage = text.trimStart().startsWith('<');
  if (status === 403 && isPage) {
    const reason =
      'its protection against robots (Cloudflare) refused this server; the block may be temporary, or the address is blocked permanently';
    return new UpstreamError('forbidden', `producthunt answered 403: ${reason}`, 403);
  }
  if (status === 429) return rateLimited(response, errorOf(recordOf(jsonOf(text))) ?? {}, now);
  return statusError('producthunt', [], status, headers, now);
}

// The limit is in points per fifteen minutes. The headers and the body say when it is reset.
function rateLimited({ status, headers }: UpstreamResponse, error: JsonRecord, now: Date): UpstreamError {
  const resetSeconds = numberOf(recordOf(error['details'])?.['reset_in']);
  const { retryAfterMs, resetAfterMs } = readRateHeaders(headers, now);
  const inBodyMs = resetSeconds === undefined ? undefined : Math.max(0, resetSeconds) * 1000;
  const waitMs = retryAfterMs ?? resetAfterMs ?? inBodyMs;
  const wait = waitMs === undefined ? 'asked to wait' : `asked to wait ${Math.ceil(waitMs / 1000)} s`;
  const reason = `producthunt answered ${status}: too many requests, ${wait}`;
  return new UpstreamError('rate_limited', reason, status, waitMs);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
