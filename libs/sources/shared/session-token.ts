import { UpstreamError } from '../source.js';

/** A value that a lane gets once and all its reads use: an access token. */
export interface SessionToken<T> {
  /** The session of the lane. */
  session: Map<string, unknown>;
  key: string;
  /** Gets a new one. */
  make(): Promise<T>;
  /** False if it expires soon. Absent if its expiry is unknown. */
  isGood?(token: T): boolean;
}

/** The kept token, or a new one. The promise is kept, so that concurrent reads sign in only once. */
export async function sessionToken<T>(token: SessionToken<T>): Promise<T> {
  const { session, key, make, isGood } = token;
  for (;;) {
    const kept = session.get(key) as Promise<T> | undefined;
    if (!kept) return keepInSession(session, key, make());
    const value = await kept;
    if (!isGood || isGood(value)) return value;
    // Another read may have renewed it meanwhile.
    if (session.get(key) === kept) return keepInSession(session, key, make());
  }
}

/** Keeps the promise; removes it if it rejects. */
export function keepInSession<T>(session: Map<string, unknown>, key: string, making: Promise<T>): Promise<T> {
  session.set(key, making);
  making.catch(() => {
    if (session.get(key) === making) session.delete(key);
  });
  return making;
}

/** Sends a request with the token. A refused token is renewed once. */
export async function askWithToken<T, R>(
  token: SessionToken<T>,
  ask: (token: T) => Promise<R>,
  isRefused = (error: unknown) => error instanceof UpstreamError && error.kind === 'unauthorized',
): Promise<R> {
  const { session, key } = token;
  const given = await sessionToken(token);
  try {
    return await ask(given);
  } catch (error) {
    if (!isRefused(error)) throw error;
    // Another read may have renewed it meanwhile, so only the refused token is removed.
    const kept = session.get(key);
    if ((await kept) === given && session.get(key) === kept) session.delete(key);
    return ask(await sessionToken(token));
  }
}
