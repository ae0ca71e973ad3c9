import { numberOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import { askWithToken } from '../shared/session-token.js';
import { UpstreamError, type UpstreamHttp } from '../source.js';

/** The credentials of a project that TikTok has approved for research. */
export interface TiktokSettings {
  /** TikTok calls it the client key. */
  clientId: string;
  clientSecret: string;
}

/** The part of a read's context that a sign-in needs. */
export interface SignedInContext {
  http: UpstreamHttp;
  now: Date;
  session: Map<string, unknown>;
}

/** The names of the required settings. */
export const SETTINGS = ['SOURCE_TIKTOK_CLIENT_ID', 'SOURCE_TIKTOK_CLIENT_SECRET'];

interface Token {
  value: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

const TOKEN_URL = 'https://open.tiktokapis.com/v2/oauth/token/';
const SESSION_KEY = 'tiktok.token';
/** The lifetime of a token if TikTok's answer states none. */
const TOKEN_SECONDS = 7_200;
// A token is renewed this long before it expires. If a token expired during a request, the request would fail, and
// TikTok would count it towards the daily limit.
const RENEW_BEFORE_MS = 300_000;

/**
 * Sends a request with the token of the session. Signs in first (client credentials) if the session has no token, or a
 * token that expires soon. If TikTok no longer accepts the token, repeats the request once with a new one.
 * @param isEnded returns true if the error of the request means that TikTok no longer accepts the token
 * @throws UpstreamError `unauthorized` if TikTok refuses the credentials; other errors of the sign-in and of `ask`
 */
export async function withToken<T>(
  context: SignedInContext,
  settings: TiktokSettings,
  ask: (token: string) => Promise<T>,
  isEnded: (error: unknown) => boolean,
): Promise<T> {
  const isGood = (token: Token) => token.expiresAt - RENEW_BEFORE_MS > context.now.getTime();
  const make = () => signIn(context, settings);
  const token = { session: context.session, key: SESSION_KEY, make, isGood };
  return askWithToken(token, ({ value }) => ask(value), isEnded);
}

async function signIn({ http, now }: SignedInContext, settings: TiktokSettings): Promise<Token> {
  const form = new URLSearchParams({
    client_key: settings.clientId,
    client_secret: settings.clientSecret,
    grant_type: 'client_credentials',
  });
  const { body, response } = await http.json({
    method: 'POST',
    url: TOKEN_URL,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(form),
    accept: [400],
  });
  const answer = recordOf(body);
  const value = textOf(answer?.['access_token']);
  if (value === undefined) {
    // If TikTok refuses the credentials, its answer contains an "error". The status can be 200.
    if (textOf(answer?.['error']) === undefined)
      throw unknownShape('tiktok', 'an object with an "access_token"');
    const reason = `tiktok refused the sign-in; check ${SETTINGS.join(' and ')}`;
    throw new UpstreamError('unauthorized', reason, response.status);
  }
  const expiresInSeconds = numberOf(answer?.['expires_in']) ?? TOKEN_SECONDS;
  return { value, expiresAt: now.getTime() + expiresInSeconds * 1000 };
}
