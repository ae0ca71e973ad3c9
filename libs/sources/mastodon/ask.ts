import { parseJson } from '../shared/json-answer.js';
import { UpstreamError, type FetchContext, type UpstreamRequest, type UpstreamResponse } from '../source.js';
import { askWithTokenAdvice } from '../shared/token-advice.js';

/** One instance, and the token of the configured account. Only the configured instance gets the token. */
export interface Instance {
  host: string;
  token: string | undefined;
  /** True for the configured instance. */
  own: boolean;
}

/** The setting with the token. */
export const TOKEN_SETTING = 'SOURCE_MASTODON_TOKEN';

/** Posts of one page: Mastodon's maximum. */
export const PAGE_SIZE = 40;

// Responses of an instance to requests without a token: 422 if a timeline is only for its accounts (seen on
// mastodon.social), 401 or 403 if all content is only for its accounts, 404 if its software has no timelines. The texts
// of the responses can be in any language, so only the status codes are checked.
const FOR_ACCOUNTS_ONLY = [401, 403, 404, 422];

/** An instance's response. */
export interface Answer {
  body: unknown;
  response: UpstreamResponse;
}

/**
 * Calls an instance.
 * @throws UpstreamError
 */
export async function ask(
  { http }: Pick<FetchContext, 'http'>,
  instance: Instance,
  pathAndQuery: string,
): Promise<Answer> {
  return askWithTokenAdvice('mastodon', adviceFor(instance), async () => {
    // With a token, a 422 is an ordinary fault.
    const accept = instance.token === undefined ? [422] : [];
    const response = await http.request(requestOf(instance, pathAndQuery, accept));
    if (response.status === 422) throw new UpstreamError('unauthorized', 'it requires a sign-in', 422);
    return answerOf(response);
  });
}

/**
 * Requests a resource. Without a token, returns undefined if the resource is only for the instance's accounts, or does
 * not exist there.
 */
export async function askIfOpen(
  { http }: Pick<FetchContext, 'http'>,
  instance: Instance,
  pathAndQuery: string,
): Promise<Answer | undefined> {
  if (instance.token !== undefined) return ask({ http }, instance, pathAndQuery);
  const response = await http.request(requestOf(instance, pathAndQuery, FOR_ACCOUNTS_ONLY));
  return FOR_ACCOUNTS_ONLY.includes(response.status) ? undefined : answerOf(response);
}

/**
 * Returns `max_id` of the next page: from the header `Link`, or the id of the last post if the server does not send the
 * header. Undefined if the header names no next page, or if there is neither the header nor a post.
 */
export function nextMaxId({ headers }: UpstreamResponse, lastId: string | undefined): string | undefined {
  const link = headers['link'];
  if (link === undefined) return lastId;
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
  if (next === undefined || !URL.canParse(next)) return undefined;
  return new URL(next).searchParams.get('max_id') ?? undefined;
}

function requestOf(
  { host, token }: Instance,
  pathAndQuery: string,
  accept: readonly number[],
): UpstreamRequest {
  return {
    url: `https://${host}${pathAndQuery}`,
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    accept,
  };
}

function answerOf(response: UpstreamResponse): Answer {
  return { body: parseJson('mastodon', response.text, response.status), response };
}

function adviceFor({ token, own }: Instance): string {
  if (token !== undefined) return `the token was not accepted; check ${TOKEN_SETTING}`;
  const closed = 'the server shows its posts only to its own accounts';
  return own ? `${closed}; set ${TOKEN_SETTING}` : `${closed}; remove it from filters.instances`;
}
