import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../../testing/fake-upstream.js';
import type { FetchContext } from '../../source.js';
import { createMastodonConnector } from '../index.js';

// Only for specs: the connector with and without a token, and a function that runs one search against a fake upstream.

/** Creates the connector with a token. */
export const withToken = () => createMastodonConnector({ instance: '', token: 'token-1' });
/** Creates the connector without a token. */
export const withoutToken = () => createMastodonConnector({ instance: '', token: '' });
/** A response of the search without results. */
export const NOTHING = { accounts: [], statuses: [], hashtags: [] };

type Criteria = Parameters<typeof criteriaOf>[0];

/** Runs one search against a fake upstream. Returns the result, the decoded paths of the requests, and the requests. */
export async function read(
  connector: ReturnType<typeof withToken>,
  init: Criteria,
  answer: (path: string, host: string) => FakeAnswer,
  more: Partial<FetchContext> = {},
) {
  const upstream = fakeUpstream('mastodon', ({ at }) => answer(at.pathname, at.host));
  const fetched = await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  const asked = upstream.requests.map(({ at }) => decodeURIComponent(`${at.pathname}${at.search}`));
  return { fetched, asked, requests: upstream.requests };
}

/** Returns the response of a server that finds nothing. */
export const quiet = (path: string): FakeAnswer => ({ body: path === '/api/v2/search' ? NOTHING : [] });
