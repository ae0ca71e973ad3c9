import { numberOf, recordOf, textOf } from '../shared/shape.js';
import { UpstreamError, type FetchContext } from '../source.js';
import type { Market } from './markets.js';
import { listingUrl } from './request.js';
import { askWithToken, sessionToken, type SessionToken } from '../shared/session-token.js';

/** The part of a read's context that requests need. */
export type SessionContext = Pick<FetchContext, 'http' | 'session' | 'shared'>;

// Without this cookie, the catalogue answers 401. Vinted's home page sets it also for visitors without an account.
const ACCESS_COOKIE = 'access_token_web';
/** Statuses of redirects from a listing's page to its address with the title. They mean that the listing exists. */
const MOVED = [301, 302, 303, 307, 308];
const GONE = [404, 410];

/**
 * Reads the market's catalogue as a visitor without an account. An expired session is renewed once.
 * @throws UpstreamError also for a 200 with an error `code`
 */
export async function askCatalog(context: SessionContext, market: Market, url: string): Promise<unknown> {
  let visits = 0;
  const askIn = (cookie: string) => {
    visits += 1;
    return ask(context, cookie, url);
  };
  try {
    return await askWithToken(visitOf(context, market), askIn, isEnded);
  } catch (error) {
    if (visits < 2 || !isEnded(error)) throw error;
    throw new UpstreamError(
      'unauthorized',
      `${error.message}, also in a new session; vinted may refuse visitors from this address`,
      error.statusCode,
    );
  }
}

/**
 * True if the listing's own page answers 404 or 410. False for any 2xx, and for a redirect.
 * @throws UpstreamError for any other status, if there is no response, and if Vinted does not give a session
 */
export async function isGone(context: SessionContext, market: Market, id: string): Promise<boolean> {
  const { status } = await context.http.request({
    url: listingUrl(market, id),
    headers: { accept: 'text/html', cookie: await sessionToken(visitOf(context, market)) },
    accept: [...GONE, ...MOVED],
  });
  return GONE.includes(status);
}

async function ask({ http }: SessionContext, cookie: string, url: string): Promise<unknown> {
  const { body } = await http.json({ url, headers: { cookie } });
  const code = numberOf(recordOf(body)?.['code']) ?? 0;
  if (code !== 0) throw refusal(code);
  return body;
}

// The codes are known from public clients of the catalogue.
function refusal(code: number): UpstreamError {
  const answered = `vinted answered 200 with the code ${code}`;
  switch (code) {
    case 100:
      return new UpstreamError('unauthorized', `${answered}: the session has ended`, 200);
    case 21:
      return new UpstreamError('unauthorized', `${answered}: it requires a sign-in`, 200);
    case 102:
    case 106:
      return new UpstreamError('forbidden', `${answered}: vinted refuses this address`, 200);
    case 104:
      return new UpstreamError('not_found', `${answered}: this address does not exist`, 200);
    default:
      return new UpstreamError('unexpected_status', `${answered}: the request was not understood`, 200);
  }
}

function isEnded(error: unknown): error is UpstreamError {
  return error instanceof UpstreamError && error.kind === 'unauthorized';
}

function visitOf(context: SessionContext, market: Market): SessionToken<string> {
  return { session: context.session, key: keyOf(market), make: () => visit(context, market) };
}

async function visit({ http }: SessionContext, market: Market): Promise<string> {
  const { setCookies = [], status } = await http.request({
    url: `${market.origin}/`,
    headers: { accept: 'text/html' },
  });
  const cookies = new Map(setCookies.map(pairOf).filter((pair) => pair !== undefined));
  if (!cookies.has(ACCESS_COOKIE)) {
    throw new UpstreamError(
      'forbidden',
      `vinted answered without the cookie ${ACCESS_COOKIE}; it may refuse visitors from this address`,
      status,
    );
  }
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

function pairOf(setCookie: string): [name: string, value: string] | undefined {
  const [pair = ''] = setCookie.split(';');
  const at = pair.indexOf('=');
  const name = pair.slice(0, at).trim();
  const value = textOf(pair.slice(at + 1))?.trim();
  // A name without a value deletes a cookie.
  return at <= 0 || name === '' || value === undefined ? undefined : [name, value];
}

function keyOf(market: Market): string {
  return `vinted.${market.code}`;
}
