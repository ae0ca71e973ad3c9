import { UpstreamError } from '../source.js';

/** Something that is had once for a lane, and used by all its reads: an access token. */
export interface SessionToken<T> {
  /** The lane's. */
  session: Map<string, unknown>;
  key: string;
  /** Has it made. */
  make(): Promise<T>;
  /** False: it ends soon. Absent: it says nothing of when it ends. */
  isGood?(token: T): boolean;
}

/** The token that is kept, or a new one. It is the promise that is kept, so that reads that start together sign in once. */
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

/** Keeps what is being made; what could not be made is not kept. */
export function keepInSession<T>(session: Map<string, unknown>, key: string, making: Promise<T>): Promise<T> {
  session.set(key, making);
  making.catch(() => {
    if (session.get(key) === making) session.delete(key);
  });
  return making;
}

/** Asks with the token. One that is refused is renewed once. */
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
    // Another read may have renewed it meanwhile: only the token that was refused is thrown away.
    const kept = session.get(key);
    if ((await kept) === given && session.get(key) === kept) session.delete(key);
    return ask(await sessionToken(token));
  }
}
