import { UpstreamError } from '../source.js';

/** An access token. The lanes of a source in one process use it for all their reads until it expires or is refused. */
export interface SessionToken<T> {
  /** The session that these lanes share. */
  session: Map<string, unknown>;
  key: string;
  /** Requests a new token. */
  make(): Promise<T>;
  /** False if the token expires soon. Absent if its expiry is unknown. */
  isGood?(token: T): boolean;
}

/**
 * Returns the kept token. Requests a new one if there is none, or if the kept one expires soon. The promise is kept, so
 * that concurrent reads sign in only once.
 */
export async function sessionToken<T>(token: SessionToken<T>): Promise<T> {
  const { session, key, make, isGood } = token;
  for (;;) {
    const kept = session.get(key) as Promise<T> | undefined;
    if (!kept) return keepInSession(session, key, make());
    const value = await kept;
    if (!isGood || isGood(value)) return value;
    // Another read can have renewed the token meanwhile.
    if (session.get(key) === kept) return keepInSession(session, key, make());
  }
}

/** Stores the promise in the session, and removes the promise if it rejects. */
export function keepInSession<T>(session: Map<string, unknown>, key: string, making: Promise<T>): Promise<T> {
  session.set(key, making);
  making.catch(() => {
    if (session.get(key) === making) session.delete(key);
  });
  return making;
}

/** Sends a request with the token. After a refusal, renews the token and sends the request once more. */
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
    // Another read can have renewed the token meanwhile, so only the refused token is removed.
    const kept = session.get(key);
    if ((await kept) === given && session.get(key) === kept) session.delete(key);
    return ask(await sessionToken(token));
  }
}
