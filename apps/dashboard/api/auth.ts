import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';
import { beginSession, type Session } from './session.js';

/** Reads the session of the cookie, and makes it the current session. @throws EarshotError 401 without a session */
export async function readSession(): Promise<Session> {
  const session = await api.get('/v1/auth/session');
  beginSession(session);
  return session;
}

/** The query for the session of the cookie. The session is read once, and stays in the cache. */
export const sessionOptions = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: Infinity,
});

/** Signs a member in. @throws EarshotError 401 for a wrong address or password, 429 after too many attempts */
export async function signIn(email: string, password: string): Promise<Session> {
  const session = await api.post('/v1/auth/sign-in', { body: { email, password } });
  beginSession(session);
  return session;
}

/** The body of a sign-up. */
interface SignUp {
  email: string;
  password?: string;
  name?: string;
  /**
   * The code that a new installation prints, or the code of an invitation or of a mail. Without a code, the API sends a
   * mail with a link if `SIGN_UP` is `open` and there is an account already. Otherwise it refuses the sign-up.
   */
  code?: string;
}

/**
 * Signs a person up.
 * @returns the session; without a code, a sentence for the person: a mail is on its way if the address can sign up
 */
export async function signUp(body: SignUp): Promise<Session | string> {
  const answer = await api.post('/v1/auth/sign-up', { body });
  if (!('csrfToken' in answer)) return answer.message;
  beginSession(answer);
  return answer;
}

/** Ends the session of the cookie. */
export const signOut = () => api.post('/v1/auth/sign-out');

/** Requests a link to reset a password. The API gives the same answer for known and unknown addresses. */
export const askForReset = (email: string) => api.post('/v1/auth/password/reset', { body: { email } });

/** Sets a new password. @param token the token of the link */
export const confirmReset = (token: string, newPassword: string) =>
  api.post('/v1/auth/password/reset/confirm', { body: { token, newPassword } });

/** The query for what the pages need before a sign-in: for example who can sign up, and whether there is an account. */
export const signUpOptions = queryOptions({
  queryKey: ['/v1/auth/options'],
  queryFn: ({ signal }) => api.get('/v1/auth/options', { signal }),
});
