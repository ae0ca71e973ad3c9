import { parseJson } from '../shared/json-answer.js';
import { recordOf, textOf } from '../shared/shape.js';
import { UpstreamError, type FetchContext, type UpstreamResponse } from '../source.js';
import { statusError } from '../shared/status-error.js';
import { askWithTokenAdvice } from '../shared/token-advice.js';

/** One instance. Only the configured instance has a token. */
export interface Instance {
  host: string;
  token: string | undefined;
  /** True for the configured instance. */
  own: boolean;
}

/** The setting with the token. */
export const TOKEN_SETTING = 'SOURCE_LEMMY_TOKEN';

/**
 * Calls an instance. If several searches of a batch need the same address, the request is sent once for all of them.
 * @throws UpstreamError
 */
export async function ask(context: FetchContext, instance: Instance, pathAndQuery: string): Promise<unknown> {
  const { body } = await askAccepting(context, instance, pathAndQuery, []);
  return body;
}

/** Like `ask`, but does not throw for the statuses in `accept`. For these, `body` is undefined. */
export function askAccepting(
  context: FetchContext,
  instance: Instance,
  pathAndQuery: string,
  accept: readonly number[],
): Promise<{ status: number; body: unknown }> {
  const { host, token } = instance;
  const url = `https://${host}${pathAndQuery}`;
  return context.shared(`lemmy ${url}`, () =>
    askWithTokenAdvice('lemmy', adviceFor(instance), async () => {
      const response = await context.http.request({
        url,
        headers: {
          accept: 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        // The bodies of 400 and 404 contain the reason.
        accept: [400, 404, ...accept],
      });
      const { status } = response;
      if (accept.includes(status)) return { status, body: undefined };
      if (status >= 300) throw faultOf(response, instance, context.now);
      return { status, body: parseJson('lemmy', response.text, status) };
    }),
  );
}

function faultOf({ status, headers, text }: UpstreamResponse, instance: Instance, now: Date): UpstreamError {
  const code = codeOf(text);
  const answered = `lemmy answered ${status}`;
  switch (code) {
    case 'rate_limit_error':
      // Lemmy 0.19 answers 400 to too many requests, and never says how long to wait (LemmyNet/lemmy#5332).
      return new UpstreamError('rate_limited', `${answered}: too many requests, asked to wait`, status);
    case 'instance_is_private':
    case 'not_logged_in':
      return new UpstreamError('unauthorized', answered, status);
    case 'couldnt_find_community':
      return new UpstreamError(
        'not_found',
        `${answered}: ${instance.host} knows no such community; check filters.community`,
        status,
      );
    default:
      if (status === 404) return statusError('lemmy', [], status, headers, now);
      return new UpstreamError(
        'unexpected_status',
        `${answered}${code === '' ? '' : ` (${code})`}: the request was not understood`,
        status,
      );
  }
}

/** Returns the name of an error, for example `rate_limit_error`; empty if the response has none. */
function codeOf(text: string): string {
  try {
    const code = textOf(recordOf(JSON.parse(text))?.['error']) ?? '';
    return /^[a-z0-9_]{1,60}$/.test(code) ? code : '';
  } catch {
    return '';
  }
}

function adviceFor({ token, own }: Instance): string {
  if (token !== undefined) return `the token was not accepted; check ${TOKEN_SETTING}`;
  const closed = 'the server shows its posts only to its own accounts';
  return own ? `${closed}; set ${TOKEN_SETTING}` : `${closed}; remove it from filters.instances`;
}
