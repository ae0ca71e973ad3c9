import { recordOf, numberOf, textOf, unknownShape } from '../shared/shape.js';
import { askWithToken } from '../shared/session-token.js';
import { UpstreamError, type UpstreamHttp, type UpstreamResponse } from '../source.js';

/** The credentials of a reddit application. */
export interface RedditSettings {
  clientId: string;
  clientSecret: string;
}

interface Token {
  value: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** The part of a read's context that a sign-in needs. */
export interface SignedInContext {
  http: UpstreamHttp;
  now: Date;
  session: Map<string, unknown>;
}

const TOKEN_URL = 'https://www.reddit.com/api/v1/access_token';
const SESSION_KEY = 'reddit.token';
// A token that expires within this time is renewed before the next request. If it expired during a request, Earshot
// would have to repeat the request.
const RENEW_BEFORE_MS = 60_000;

/** Sends a request with the application's token (app-only OAuth). A refused token is renewed once. */
export async function askSignedIn(
  context: SignedInContext,
  settings: RedditSettings,
  url: string,
): Promise<{ body: unknown; response: UpstreamResponse }> {
  const isGood = (token: Token) => token.expiresAt - RENEW_BEFORE_MS > context.now.getTime();
  const make = () => signIn(context, settings);
  const token = { session: context.session, key: SESSION_KEY, make, isGood };
  return askWithToken(token, ({ value }) => ask(context.http, settings, value, url));
}

function ask(
  http: UpstreamHttp,
  settings: RedditSettings,
  token: string,
  url: string,
): Promise<{ body: unknown; response: UpstreamResponse }> {
  return http.json({
    url,
    headers: { authorization: `bearer ${token}`, 'user-agent': userAgentOf(settings) },
  });
}

async function signIn({ http, now }: SignedInContext, settings: RedditSettings): Promise<Token> {
  const credentials = Buffer.from(`${settings.clientId}:${settings.clientSecret}`).toString('base64');
  const { body } = await http.json({
    method: 'POST',
    url: TOKEN_URL,
    headers: {
      authorization: `Basic ${credentials}`,
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': userAgentOf(settings),
    },
    body: 'grant_type=client_credentials',
  });
  const answer = recordOf(body);
  const value = textOf(answer?.['access_token']);
  if (value === undefined) {
    // If reddit refuses the grant, it answers 200 with an "error".
    if (textOf(answer?.['error']) === undefined)
      throw unknownShape('reddit', 'an object with an "access_token"');
    throw new UpstreamError(
      'unauthorized',
      'reddit refused the sign-in; check SOURCE_REDDIT_CLIENT_ID and SOURCE_REDDIT_CLIENT_SECRET',
      200,
    );
  }
  const expiresInSeconds = numberOf(answer?.['expires_in']) ?? 3_600;
  return { value, expiresAt: now.getTime() + expiresInSeconds * 1000 };
}

// Reddit requires a user agent that names the platform and the application. It throttles requests with other user
// agents.
function userAgentOf({ clientId }: RedditSettings): string {
  return `server:${clientId}:v1 (Earshot)`;
}
