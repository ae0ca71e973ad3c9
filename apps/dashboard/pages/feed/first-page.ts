import type { AnswerOf } from '../../../../clients/typescript/src/index.js';
import { api, EarshotError } from '../../api/client.js';
import { apiFilters, readFilters, writeFilters, type ApiFilters, type FeedFilters } from './feed-filters.js';

/** The first page is small, so that it is shown quickly. */
export const FIRST_PAGE = 50;

type MentionPage = AnswerOf<'get', '/v1/mentions'>;

let firstPage: { address: string; query: ApiFilters; page: Promise<MentionPage | undefined> } | undefined;

/** Begins to read the first page of a feed while the code of the feed's page is loading. */
export function beginFirstPage(search: string): void {
  const filters = readFilters(new URLSearchParams(search));
  const query = apiFilters(filters, Date.now());
  // A search by meaning costs credits, and the member has to agree to the price first.
  if (query.mode === 'semantic') return;
  const page = api.get('/v1/mentions', { query: { ...query, limit: FIRST_PAGE } }).catch((error: unknown) => {
    // Without a session, the first page is read after the sign-in.
    if (error instanceof EarshotError && error.status === 401) return undefined;
    throw error;
  });
  // The feed reports the failure if it takes the page.
  page.catch(() => undefined);
  firstPage = { address: writeFilters(filters).toString(), query, page };
}

/**
 * Returns the filters in the format of the API. If `since` is empty, the period begins one window before now. If
 * `beginFirstPage` reads the page of this address, the period begins one window before the start of that read.
 */
export const queryOf = (filters: FeedFilters, address: string): ApiFilters =>
  firstPage?.address === address ? firstPage.query : apiFilters(filters, Date.now());

/**
 * Returns the page that `beginFirstPage` reads for this query, but only for the first call. Returns undefined if
 * `beginFirstPage` reads no page for the query, or if there was no session.
 * @throws EarshotError if the API fails, EarshotConnectionError if it cannot be reached
 */
export async function takeFirstPage(query: ApiFilters): Promise<MentionPage | undefined> {
  if (firstPage?.query !== query) return undefined;
  const { page } = firstPage;
  firstPage = undefined;
  return page;
}
