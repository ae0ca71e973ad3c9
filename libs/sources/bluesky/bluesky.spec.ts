import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createBlueskyConnector } from './index.js';
import { postUri, postView, servePosts, serveSignIn } from './testing/fixtures.js';
import { settings, connector } from './testing/connector.js';

describeConnector('bluesky', {
  create: () => createBlueskyConnector(settings),
  criteria: criteriaOf({ query: 'lamp' }),
  serve: servePosts,
  signIn: serveSignIn,
  pageSize: 100,
  itemIdOf: postUri,
  changedShapes: [
    {},
    [],
    { feed: [] },
    { posts: {} },
    { posts: [{ post: postView(1, SPEC_NOW) }] },
    { posts: [postView(1, SPEC_NOW, { record: { text: undefined, body: 'Lamp' } })] },
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('bluesky', (request) => serveSignIn(request) ?? { body: { posts: [] } });
  await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return upstream.requests.slice(1).map(({ at }) => `${at.pathname} ${[...at.searchParams].join(' ')}`);
}

describe('the request to Bluesky', () => {
  it('is one search for each term, newest first, for posts from 5 minutes before `since`', async () => {
    const since = new Date('2026-03-04T11:00:00Z');
    expect(await asked({ query: 'led', terms: ['lamp', 'desk light'] }, { since })).toEqual([
      '/xrpc/app.bsky.feed.searchPosts q,led lamp sort,latest limit,100 since,2026-03-04T10:55:00.000Z',
      '/xrpc/app.bsky.feed.searchPosts q,led "desk light" sort,latest limit,100 since,2026-03-04T10:55:00.000Z',
    ]);
    expect(connector.requestsPerSearch(criteriaOf({ terms: ['a', 'b'] }))).toBe(2);
  });

  it('contains the unchanged words in mode `platform`', async () => {
    expect(await asked({ query: 'desk lamp -led' }, { match: 'platform' })).toEqual([
      '/xrpc/app.bsky.feed.searchPosts q,desk lamp -led sort,latest limit,100',
    ]);
  });

  it('needs a query or terms', () => {
    expect(connector.checkCriteria(criteriaOf({}))).toEqual([
      { path: 'query', message: 'a search on bluesky needs a query or terms' },
    ]);
  });
});
