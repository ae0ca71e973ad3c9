import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../../testing/fake-upstream.js';
import type { FetchContext } from '../../source.js';
import { createLemmyConnector } from '../index.js';
import { serveSite } from './fixtures.js';

// Only for specs: the connector without settings, and a function that reads one search.

/** Creates the connector for the default instance, without a token. */
export const create = () => createLemmyConnector({ instance: '', token: '' });
/** The connector without settings. */
export const connector = create();
/** A response without entries. */
export const NOTHING = { posts: [], comments: [], items: [] };

interface SearchOptions {
  version?: string;
  more?: Partial<FetchContext>;
  answer?: (path: string, host: string) => FakeAnswer;
}

/**
 * Reads one search. Returns the result, the decoded paths of all requests except the check of the server's version,
 * and all requests.
 */
export async function read(
  init: Parameters<typeof criteriaOf>[0],
  options: SearchOptions = {},
  of = connector,
) {
  const { version = '0.19.20', more = {}, answer = () => ({ body: NOTHING }) } = options;
  const upstream = fakeUpstream(
    'lemmy',
    (request) => serveSite(version, request) ?? answer(request.at.pathname, request.at.host),
    { settings: of.requiredSettings.flat() },
  );
  const fetched = await of.search(criteriaOf(init), fakeContext(upstream.http, more));
  const asked = upstream.requests
    .filter(({ at }) => at.pathname !== '/api/v3/site')
    .map(({ at }) => decodeURIComponent(`${at.pathname}${at.search}`));
  return { fetched, asked, requests: upstream.requests };
}
