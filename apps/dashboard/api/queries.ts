import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { EarshotError } from './client.js';
import { sessionEnded } from './session.js';

/** Reports to the shell that the session has ended, if any request returns 401. */
function reportEndedSession(error: unknown): void {
  if (error instanceof EarshotError && error.status === 401) sessionEnded();
}

/** The cache of all API responses. The cache never retries a request, because the client already retries. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: reportEndedSession }),
  mutationCache: new MutationCache({ onError: reportEndedSession }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: false, gcTime: 5 * 60_000 },
    mutations: { retry: false },
  },
});
