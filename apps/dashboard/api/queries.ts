import { focusManager, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { checkSession, reportToSession } from './client.js';
import { sessionState } from './session.js';

/** The cache of all API responses. The cache never retries a request, because the client already retries. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: reportToSession }),
  mutationCache: new MutationCache({ onError: reportToSession }),
  defaultOptions: {
    // With the default mode, a request without a network waits, and the pages would show neither data nor a problem.
    queries: { staleTime: 10_000, retry: false, gcTime: 5 * 60_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/**
 * When the member returns to the page, the session is checked first, because another member can have signed in with
 * another tab. The cache reads stale data again, and the live stream continues, only after this check. If the session
 * had ended, and the same member has signed in again in another tab, the page continues without the password.
 */
focusManager.setEventListener((setFocused) => {
  const update = () => {
    if (document.hidden) return setFocused(false);
    const { session, hasEnded } = sessionState();
    if (!session) return setFocused(true);
    void checkSession()
      // If the session cannot be read, the other requests show the problem.
      .catch(() => !hasEnded)
      .then((isSame) => isSame && setFocused(!document.hidden));
  };
  window.addEventListener('visibilitychange', update);
  window.addEventListener('focus', update);
  return () => {
    window.removeEventListener('visibilitychange', update);
    window.removeEventListener('focus', update);
  };
});
