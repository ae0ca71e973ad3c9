import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../../testing/fake-upstream.js';
import type { FetchContext } from '../../source.js';
import { createGithubConnector } from '../index.js';
import { discussions } from './fixtures.js';

// Only for specs: the connector with and without a token, and a function that reads one search.

/** The connector with a token. */
export const withToken = createGithubConnector({ token: 'token-1' });
/** The connector without a token. */
export const withoutToken = createGithubConnector({ token: '' });

/** The options of a read in a spec. */
export interface SearchOptions {
  of?: typeof withToken;
  more?: Partial<FetchContext>;
  answer?: FakeAnswer;
}

/** Reads one search. Returns the result, the queries that were sent to GitHub, and the requests. */
export async function read(init: Parameters<typeof criteriaOf>[0], options: SearchOptions = {}) {
  const { of = withoutToken, more = {}, answer = { body: { items: [] } } } = options;
  const upstream = fakeUpstream('github', ({ method }) =>
    method === 'POST' && options.answer === undefined ? { body: discussions([]) } : answer,
  );
  const fetched = await of.search(criteriaOf(init), fakeContext(upstream.http, more));
  const asked = upstream.requests.map(
    ({ at, body }) =>
      at.searchParams.get('q') ?? (JSON.parse(String(body)) as { variables: { q: string } }).variables.q,
  );
  return { fetched, asked, requests: upstream.requests };
}

/** A filter for issues only. */
export const issues = { kinds: ['issue'] };
