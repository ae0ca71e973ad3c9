import {
  createClient,
  EarshotError,
  type Client,
  type ClientOptions,
} from '../../../clients/typescript/src/index.js';
import { continueSession, csrfToken, sessionEnded } from './session.js';

export { EarshotConnectionError, EarshotError, type Fault } from '../../../clients/typescript/src/index.js';

const OPTIONS: ClientOptions = { baseUrl: '', fetch: fetchInSession, longestRetryAfterSeconds: 20 };

/**
 * The API for requests that ask a receiver or a language model first: the gateway answers them after at most 120 s. They
 * are not repeated, because a person would not wait for a second attempt.
 */
export const patientApi = createClient({ ...OPTIONS, retries: 0, timeoutMs: 125_000 });

/** The gateway normally answers within a second, and waits for another service at most 10 s. */
const quickApi = createClient({ ...OPTIONS, retries: 2, timeoutMs: 15_000 });

/**
 * The API, as the member who is signed in. The browser adds the session cookie. If the API hangs, the page reports this
 * after three attempts of 15 s. A PATCH or DELETE has only one attempt, because it cannot be repeated safely. An export
 * can wait longer for its first bytes.
 */
export const api: Client = { ...quickApi, download: patientApi.download };

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
 * Reports a failed request to the shell if the session can be the reason. A 401 means that the session has ended. A 403
 * can mean that an owner has changed the member's role, so this function reads the session again.
 */
export function reportToSession(error: unknown): void {
  if (!(error instanceof EarshotError)) return;
  if (error.status === 401) sessionEnded();
  // If the session cannot be read, the page shows only the refusal.
  if (error.status === 403) void checkSession().catch(() => undefined);
}

/**
 * Sends a request with the token of the session. After a new sign-in in another tab, the API refuses the token, even
 * for a read. Then this function reads the session of the browser. If it belongs to the same member, the request is
 * sent once more with the new token: the refused request had no effect. If it belongs to another member, the request is
 * not repeated, because the page would show the data of another account.
 */
async function fetchInSession(address: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const send = () => {
    const headers = new Headers(init.headers);
    const token = csrfToken();
    if (token !== undefined) headers.set(TOKEN, token);
    return window.fetch(address, { ...init, headers });
  };
  const response = await send();
  if (![401, 403].includes(response.status) || !(await response.clone().text()).includes(TOKEN))
    return response;
  return (await checkSession()) ? send() : Response.json(ENDED, { status: 401 });
}

const TOKEN = 'x-csrf-token';
const ENDED = { error: 'Your session has ended. Sign in again.', code: 'UNAUTHORIZED' };
