import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../../testing/fake-upstream.js';
import type { FetchContext } from '../../source.js';
import { createStackoverflowConnector } from '../index.js';
import { serveFilter, wrapped } from './fixtures.js';

// Only for specs: the connector without a key, and a function that reads one search.

/** Creates the connector without a key. */
export const create = () => createStackoverflowConnector({ key: '' });
/** The connector without a key, for specs that share it. */
export const connector = create();

/** The options of a read in a spec. */
export interface SearchOptions {
  of?: typeof connector;
  more?: Partial<FetchContext>;
  answers?: (path: string) => FakeAnswer;
}

/** Reads one search. Returns the result, the decoded paths of the requests, and the waits. */
export async function read(init: Parameters<typeof criteriaOf>[0], options: SearchOptions = {}) {
  const { of = connector, more = {}, answers = () => wrapped([]) } = options;
  const upstream = fakeUpstream(
    'stackoverflow',
    (request) => serveFilter(request) ?? answers(request.at.pathname),
  );
  const fetched = await of.search(criteriaOf(init), fakeContext(upstream.http, more));
  const asked = upstream.requests.map(({ at }) => decodeURIComponent(`${at.pathname}${at.search}`));
  return { fetched, asked, heldOff: upstream.heldOff };
}
