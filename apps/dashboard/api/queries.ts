import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { EarshotError } from './client.js';
import { sessionEnded } from './session.js';

/** Tells the shell that the session has ended, whichever request finds out. */
function notice(error: unknown): void {
  if (error instanceof EarshotError && error.status === 401) sessionEnded();
}

/** The cache of everything that the page has read. The client itself tries again after 429 and 5xx. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: false, gcTime: 5 * 60_000 },
    mutations: { retry: false },
  },
});
