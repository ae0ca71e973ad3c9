import { parseJson } from '../shared/json-answer.js';
import { askWithToken } from '../shared/session-token.js';
import { recordOf, textOf, unknownShape } from '../shared/shape.js';
import { UpstreamError, type FetchContext } from '../source.js';

/** A developer token, or the id and the secret of an application. */
export interface ProducthuntSettings {
  /** Does not expire. If it is set, the other two settings are not used. */
  token: string;
  clientId: string;
  clientSecret: string;
}

/** Returns the names of the settings with the credentials, for the error of a refused sign-in. */
export function settingsInUse({ token }: ProducthuntSettings): string {
  return token === ''
    ? 'SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET'
    : 'SOURCE_PRODUCTHUNT_TOKEN';
}

const TOKEN_URL = 'https://api.producthunt.com/v2/oauth/token';
const SESSION_KEY = 'producthunt.token';

/** Runs `ask` with a token. A refused token of an application is renewed once. */
export async function withToken<T>(
  context: FetchContext,
  settings: ProducthuntSettings,
  ask: (token: string) => Promise<T>,
): Promise<T> {
  if (settings.token !== '') return ask(settings.token);
  // The token has no expiry time.
  const make = () => signIn(context, settings);
  return askWithToken({ session: context.session, key: SESSION_KEY, make }, ask);
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
    // The body of a refusal describes only the grant, so the error names the settings.
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
