import { useSyncExternalStore } from 'react';
import type { AnswerOf } from '../../../clients/typescript/src/index.js';

/** The member who is signed in, and the account. */
export type Session = AnswerOf<'get', '/v1/auth/session'>;

interface State {
  session: Session | undefined;
  /** True after a request was refused because the session has ended. The page stays open, so that text that the member has typed is not lost. */
  hasEnded: boolean;
  /** The email address of another member who has signed in with this browser after this session began. */
  replacedBy?: string;
}

let state: State = { session: undefined, hasEnded: false };
const listeners = new Set<() => void>();

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

/** Begins a session, or continues the session after a new sign-in. */
export function beginSession(session: Session): void {
  change({ session, hasEnded: false });
}

/**
 * Compares the session of the page with the session that the browser has now. After a new sign-in in another tab, the
 * page continues with the token of the new session, but only for the same member and account. Without this check, the
 * page would show the data of one account under the name of another. If the member's role or the account's details (for
 * example its name) have changed, the page uses the new values.
 * @returns whether the page can continue
 */
export function continueSession(found: Session): boolean {
  const { session, hasEnded } = state;
  if (session && (session.member.id !== found.member.id || session.account.id !== found.account.id)) {
    change({ session, hasEnded: true, replacedBy: found.member.email });
    return false;
  }
  if (hasEnded || JSON.stringify(session) !== JSON.stringify(found)) beginSession(found);
  return true;
}

/** Records that the session has ended. The shell then asks the member to sign in again, in a dialog above the page. */
export function sessionEnded(): void {
  if (state.session && !state.hasEnded) change({ ...state, hasEnded: true });
}

/** Returns the token that the client sends in a header of each write. */
export function csrfToken(): string | undefined {
  return state.session?.csrfToken;
}

/** Returns the current session, and whether it has ended, for code outside of components. */
export const sessionState = (): State => state;

/** Returns the current session, and whether it has ended. */
export function useSessionState(): State {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, sessionState);
}

/** Returns the session, for pages that need a session. @throws Error if there is no session */
export function useSession(): Session {
  const { session } = useSessionState();
  if (!session) throw new Error('there is no session');
  return session;
}

/** Returns whether the role of the member allows changes of keywords, channels, labels and views. */
export function useCanEdit(): boolean {
  return useSession().member.role !== 'viewer';
}

/** Returns whether the member is an owner. Owners manage members, the account and its secrets. */
export function useIsOwner(): boolean {
  return useSession().member.role === 'owner';
}
