import { parseJson } from '../json-answer.js';
import { recordOf, textOf, unknownShape } from '../shape.js';
import { UpstreamError, type FetchContext } from '../source.js';

/** A developer token, or the id and the secret of an application. */
export interface ProducthuntSettings {
  /** Does not expire; wins over the other two. */
  token: string;
  clientId: string;
  clientSecret: string;
}

/** The settings at fault when a sign-in is refused. */
export function settingsInUse({ token }: ProducthuntSettings): string {
  return token === ''
    ? 'SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET'
    : 'SOURCE_PRODUCTHUNT_TOKEN';
}

const TOKEN_URL = 'https://api.producthunt.com/v2/oauth/token';
const SESSION_KEY = 'producthunt.token';

/** Runs `ask` with a token. One of an application that is refused is renewed once. */
export async function withToken<T>(
  context: FetchContext,
  settings: ProducthuntSettings,
  ask: (token: string) => Promise<T>,
): Promise<T> {
  if (settings.token !== '') return ask(settings.token);
  const token = await tokenOf(context, settings);
  try {
    return await ask(token);
  } catch (error) {
    if (!(error instanceof UpstreamError) || error.kind !== 'unauthorized') throw error;
    // Another read may have renewed it meanwhile: only the token that was refused is thrown away.
    if ((await context.session.get(SESSION_KEY)) === token) context.session.delete(SESSION_KEY);
    return ask(await tokenOf(context, settings));
  }
}

// The promise is what is kept, so that reads that start together sign in once. It says nothing of when it ends.
function tokenOf(context: FetchContext, settings: ProducthuntSettings): Promise<string> {
  const kept = context.session.get(SESSION_KEY) as Promise<string> | undefined;
  if (kept) return kept;
  const signingIn = signIn(context, settings);
  context.session.set(SESSION_KEY, signingIn);
  signingIn.catch(() => {
    if (context.session.get(SESSION_KEY) === signingIn) context.session.delete(SESSION_KEY);
  });
  return signingIn;
}

async function signIn({ http }: FetchContext, settings: ProducthuntSettings): Promise<string> {
  const response = await http.request({
    method: 'POST',
    url: TOKEN_URL,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: settings.clientId,
      client_secret: settings.clientSecret,
      grant_type: 'client_credentials',
    }),
    // Refused: the body says which grant.
    accept: [400, 401],
  });
  if (response.status >= 300) {
    throw new UpstreamError(
      'unauthorized',
      `producthunt answered ${response.status}: the sign-in was refused; check ${settingsInUse(settings)}`,
      response.status,
    );
  }
  const token = textOf(recordOf(parseJson('producthunt', response.text, response.status))?.['access_token']);
  if (token === undefined) throw unknownShape('producthunt', 'an object with an "access_token"');
  return token;
}
