import type { SourceId } from '#contracts';
import { readRateHeaders } from '#http-out';
import { UpstreamError } from '../source.js';

/** Returns the fault for a status that is not 2xx and that the request does not accept, with advice for people. */
export function statusError(
  source: SourceId,
  settings: readonly string[],
  status: number,
  headers: Record<string, string>,
  now: Date,
): UpstreamError {
  const rate = readRateHeaders(headers, now);
  const answered = `${source} answered ${status}`;
  // Some upstreams answer 403 if a quota is exhausted, and report the quota only in the headers.
  if (status === 429 || (status === 403 && rate.retryAfterMs !== undefined)) {
    return rateLimited(answered, status, rate.retryAfterMs ?? rate.resetAfterMs);
  }
  if (status === 401)
    return new UpstreamError('unauthorized', `${answered}: ${signInAdvice(settings)}`, status);
  if (status === 403) {
    const reason = 'access was refused; the upstream blocks this service, or wants other credentials';
    return new UpstreamError('forbidden', `${answered}: ${reason}`, status);
  }
  if (status === 404) {
    const reason = 'this address does not exist; check the names and addresses in the search';
    return new UpstreamError('not_found', `${answered}: ${reason}`, status);
  }
  if (status === 410) {
    return new UpstreamError(
      'gone',
      `${answered}: the resource was removed permanently; remove it from the search`,
      status,
    );
  }
  if (status >= 500) {
    const reason = 'the upstream failed; Earshot tries again later';
    return new UpstreamError('server_error', `${answered}: ${reason}`, status, rate.retryAfterMs);
  }
  if (status >= 300 && status < 400) {
    return new UpstreamError('unexpected_status', `${answered}: a redirect instead of an answer`, status);
  }
  return new UpstreamError('unexpected_status', `${answered}: the request was not understood`, status);
}

function rateLimited(answered: string, status: number, retryAfterMs: number | undefined): UpstreamError {
  const wait =
    retryAfterMs === undefined ? 'asked to wait' : `asked to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  return new UpstreamError('rate_limited', `${answered}: too many requests, ${wait}`, status, retryAfterMs);
}

function signInAdvice(settings: readonly string[]): string {
  if (settings.length === 0) return 'it requires a sign-in';
  return `the credentials were not accepted; check ${settings.join(' and ')}`;
}
