import { api } from './client.js';
import { beginSession, type Session } from './session.js';

/** Reads the session of the cookie, and begins it. @throws EarshotError 401 without one */
export async function readSession(): Promise<Session> {
  const session = (await api.get('/v1/auth/session' as never)) as Session;
  beginSession(session);
  return session;
}

/** @throws EarshotError 401 for a wrong address or password, 429 after too many attempts */
export async function signIn(email: string, password: string): Promise<Session> {
  await call('/v1/auth/sign-in', { email, password });
  return readSession();
}

/** What `sign-up` answered: a session, or `mailed` where the sign-up goes on by mail. */
export type SignUpOutcome = Session | 'mailed';

/** @param code the sign-up code of a new installation, or the code of an invitation */
export async function signUp(body: {
  email: string;
  password: string;
  name?: string;
  code?: string;
}): Promise<SignUpOutcome> {
  await call('/v1/auth/sign-up', body);
  return readSession().catch(() => 'mailed' as const);
}

export const signOut = () => call('/v1/auth/sign-out');

/** The answer is the same for any address. */
export const askForReset = (email: string) => call('/v1/auth/password/reset', { email });

/** @param token of the link in the mail */
export const confirmReset = (token: string, newPassword: string) =>
  call('/v1/auth/password/reset/confirm', { token, new_password: newPassword });

export const changePassword = (currentPassword: string, newPassword: string) =>
  call('/v1/auth/password', { current_password: currentPassword, new_password: newPassword });

function call(path: string, body?: object): Promise<unknown> {
  return api.post(path as never, (body === undefined ? {} : { body }) as never);
}
