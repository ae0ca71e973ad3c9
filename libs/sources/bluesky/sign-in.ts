import { keepInSession, sessionToken } from '../shared/session-token.js';
import { recordOf, textOf, unknownShape } from '../shared/shape.js';
import { UpstreamError, type FetchContext } from '../source.js';

/** An account with an app password (Settings, Privacy and security, App passwords). */
export interface BlueskySettings {
  /** The handle, for example `name.bsky.social`. */
  clientId: string;
  /** The app password. */
  clientSecret: string;
}

interface Session {
  accessJwt: string;
  refreshJwt: string | undefined;
}

const HOST = 'https://bsky.social';
const SESSION_KEY = 'bluesky.session';
// For an expired token, some servers of Bluesky answer 400 with ExpiredToken instead of 401.
const TOKEN_ERRORS = new Set(['ExpiredToken', 'InvalidToken']);

/** Calls an XRPC method with the account of the settings. An expired session is renewed once. */
export async function askSignedIn(
  context: FetchContext,
  settings: BlueskySettings,
  method: string,
  query: URLSearchParams,
): Promise<unknown> {
  const url = `${HOST}/xrpc/${method}?${query}`;
  const session = await sessionOf(context, settings);
  try {
    return await ask(context, session, url);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind !== 'unauthorized') throw error;
    return ask(context, await renewed(context, settings, session), url);
  }
}

async function ask({ http }: FetchContext, { accessJwt }: Session, url: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${accessJwt}` };
  const { body, response } = await http.json({ url, headers, accept: [400] });
  if (response.status !== 400) return body;
  const name = textOf(recordOf(body)?.['error']) ?? '';
  if (TOKEN_ERRORS.has(name)) {
    throw new UpstreamError('unauthorized', 'bluesky answered 400: the session has ended', 400);
  }
  const shown = /^[A-Za-z]{1,40}$/.test(name) ? ` (${name})` : '';
  throw new UpstreamError(
    'unexpected_status',
    `bluesky answered 400${shown}: the request was not understood`,
    400,
  );
}

// Bluesky limits the sign-ins of an account per day, so Earshot keeps the session.
function sessionOf(context: FetchContext, settings: BlueskySettings): Promise<Session> {
  const make = () => createSession(context, settings);
  return sessionToken({ session: context.session, key: SESSION_KEY, make });
}

async function renewed(context: FetchContext, settings: BlueskySettings, ended: Session): Promise<Session> {
  const kept = context.session.get(SESSION_KEY) as Promise<Session> | undefined;
  // Another read can have renewed the session in the meantime.
  if (kept && (await kept) !== ended) return kept;
  if (context.session.get(SESSION_KEY) !== kept) return sessionOf(context, settings);
  return keepInSession(context.session, SESSION_KEY, renew(context, settings, ended));
}

async function renew(context: FetchContext, settings: BlueskySettings, ended: Session): Promise<Session> {
  if (ended.refreshJwt === undefined) return createSession(context, settings);
  const { body, response } = await context.http.json({
    method: 'POST',
    url: `${HOST}/xrpc/com.atproto.server.refreshSession`,
    headers: { authorization: `Bearer ${ended.refreshJwt}` },
    // A refresh token expires after months. Then Earshot signs in with the password again.
    accept: [400, 401],
  });
  return response.status === 200 ? readSession(body) : createSession(context, settings);
}

async function createSession({ http }: FetchContext, settings: BlueskySettings): Promise<Session> {
  const { body } = await http.json({
    method: 'POST',
    url: `${HOST}/xrpc/com.atproto.server.createSession`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: settings.clientId, password: settings.clientSecret }),
  });
  return readSession(body);
}

function readSession(body: unknown): Session {
  const answer = recordOf(body);
  const accessJwt = textOf(answer?.['accessJwt']);
  if (accessJwt === undefined) throw unknownShape('bluesky', 'a session with an "accessJwt"');
  return { accessJwt, refreshJwt: textOf(answer?.['refreshJwt']) };
}
