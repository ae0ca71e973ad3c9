import {
  createClient,
  EarshotError,
  type Client,
  type ClientOptions,
} from '../../../clients/typescript/src/index.js';
import { continueSession, csrfToken, sessionEnded } from './session.js';

export { EarshotConnectionError, EarshotError, type Fault } from '../../../clients/typescript/src/index.js';

const OPTIONS: ClientOptions = {
  baseUrl: '',
  csrfToken,
  fetch: fetchWithPresentToken,
  retries: 2,
  longestRetryAfterSeconds: 20,
};

/** The API with the time limit of the client, for reads that can take long, such as a search by meaning. */
export const patientApi = createClient(OPTIONS);

/** A read of the database normally takes less than a second. */
const quickApi = createClient({ ...OPTIONS, timeoutMs: 15_000 });

/**
 * The API, as the member who is signed in. The browser adds the session cookie. If the API hangs, a page that reads
 * reports this after three attempts of 15 s. Writes, exports and streams wait longer, because sources or a language
 * model can be asked first.
 */
export const api: Client = { ...patientApi, get: quickApi.get, paginate: quickApi.paginate };

/**
 * Reads the session that the browser has now, and reports to the shell if the page cannot continue with it.
 * @returns false if the session has ended, or if another member has signed in
 * @throws EarshotError if the API fails, EarshotConnectionError if it cannot be reached
 */
export async function checkSession(): Promise<boolean> {
  try {
    return continueSession(await api.get('/v1/auth/session'));
  } catch (error) {
    if (!(error instanceof EarshotError) || error.status !== 401) throw error;
    sessionEnded();
    return false;
  }
}

/**
 * Sends a request. If the API refuses its token, the member has signed in again in another tab. Then this function
 * reads the new token, and sends the request once more: the refused request had no effect.
 */
async function fetchWithPresentToken(address: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const response = await window.fetch(address, init);
  if (response.status !== 403 || !(await response.clone().text()).includes(TOKEN)) return response;
  if (!(await checkSession())) return Response.json(ENDED, { status: 401 });
  const headers = new Headers(init.headers);
  headers.set(TOKEN, csrfToken() ?? '');
  return window.fetch(address, { ...init, headers });
}

const TOKEN = 'x-csrf-token';
const ENDED = { error: 'Your session has ended. Sign in again.', code: 'UNAUTHORIZED' };
