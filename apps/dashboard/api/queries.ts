import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { EarshotError } from './client.js';
import { sessionEnded } from './session.js';

/** Reports to the shell that the session has ended, if any request returns 401. */
function notice(error: unknown): void {
  if (error instanceof EarshotError && error.status === 401) sessionEnded();
}

/**
 * The cache of everything that the page has read. The cache makes no retries, because the client retries after 429 and
 * 5xx.
 */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: false, gcTime: 5 * 60_000 },
    mutations: { retry: false },
  },
});
