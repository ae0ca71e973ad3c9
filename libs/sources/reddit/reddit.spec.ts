import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createRedditConnector } from './index.js';
import { commentThing, listing, postName, servePosts, serveSignIn } from './testing/fixtures.js';

const settings = { clientId: 'app', clientSecret: 's3cret' };
const connector = createRedditConnector(settings);

describeConnector('reddit', {
  create: () => createRedditConnector(settings),
  criteria: criteriaOf({ query: 'lamp' }),
  // Posts only: the listing of comments has its own specs.
  match: 'platform',
  serve: servePosts,
  signIn: serveSignIn,
  pageSize: 100,
  itemIdOf: postName,
  changedShapes: [
    {},
    [],
    { data: { children: [] } },
    { kind: 'Listing', data: {} },
    { kind: 'Listing', data: { children: {} } },
    listing([{ kind: 't5', data: {} }]),
    listing([{ kind: 't3', data: { id: 'x1', headline: 'Lamp' } }]),
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { body: listing([]) });
  await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return upstream.requests
    .slice(1)
    .map(({ at }) => decodeURIComponent(`${at.pathname}${at.search}`.replaceAll('+', ' ')));
}

describe('the request to reddit', () => {
  it('is one search for posts with any of the terms, and one listing of the newest comments', async () => {
    expect(await asked({ query: 'led', terms: ['lamp', 'desk light'] })).toEqual([
      '/search?q=led (lamp OR "desk light")&sort=new&type=link&limit=100&raw_json=1',
      '/r/all/comments?limit=100&raw_json=1',
    ]);
  });

  it('is limited to the subreddits of the search', async () => {
    const filters = { subreddit: ['lamps', 'r/Lighting'] };
    const expected = [
      '/r/lamps Lighting/search?q=lamp&sort=new&type=link&restrict_sr=1&limit=100&raw_json=1',
      '/r/lamps Lighting/comments?limit=100&raw_json=1',
    ];
    expect(await asked({ query: 'lamp', filters })).toEqual(expected);
    expect(await asked({ query: 'lamp', filters: { subreddit: '/r/lamps, Lighting' } })).toEqual(expected);
  });

  it('asks for all new posts and comments of the subreddits if the search has no words', async () => {
    expect(await asked({ filters: { subreddit: 'lamps' } })).toEqual([
      '/r/lamps/new?limit=100&raw_json=1',
      '/r/lamps/comments?limit=100&raw_json=1',
    ]);
  });

  it('contains the unchanged words in mode `platform`, and comments are not requested', async () => {
    expect(await asked({ query: 'title:lamp NOT led' }, { match: 'platform' })).toEqual([
      '/search?q=title:lamp NOT led&sort=new&type=link&limit=100&raw_json=1',
    ]);
  });

  it('is split into several searches if the terms are too long for one', async () => {
    const terms = Array.from({ length: 50 }, (_, n) => `a term of some length, number ${n}`);
    const queries = (await asked({ query: 'led', terms }))
      .slice(0, -1)
      .map((url) => /q=(.*)&sort/.exec(url)?.[1] ?? '');
    expect(queries.length).toBe(4);
    expect(queries.every((q) => q.length <= 512 && q.startsWith('led ("a term'))).toBe(true);
    expect(queries.join().match(/number \d+/g)?.length).toBe(50);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'led', terms }))).toBe(5);
  });

  it.each([
    [{}, 'query', 'a search on reddit needs a query, terms or filters.subreddit'],
    [
      { query: 'x', filters: { subreddit: 7 } },
      'filters.subreddit',
      'must be the name of a subreddit or a list of names',
    ],
    [
      { query: 'x', filters: { subreddit: ['ok', 'a b'] } },
      'filters.subreddit',
      '"a b" is not the name of a subreddit',
    ],
    [{ query: 'x '.repeat(300) }, 'query', 'reddit takes at most 512 characters'],
  ])('is not sent for the criteria %j, which are refused at %s: %s', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  it('asks for the newest comments only once for all searches of a batch', async () => {
    const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { body: listing([]) });
    const reads = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const reading = (reads.get(key) as Promise<T> | undefined) ?? read();
      reads.set(key, reading);
      return reading;
    };
    const session = new Map();
    await Promise.all(
      ['lamp', 'light'].map((query) =>
        connector.search(criteriaOf({ query }), fakeContext(upstream.http, { shared, session })),
      ),
    );
    expect(upstream.requests.map(({ at }) => at.pathname).sort()).toEqual([
      '/api/v1/access_token',
      '/r/all/comments',
      '/search',
      '/search',
    ]);
  });

  it('asks for at most three pages of comments, and reports a gap, if the search names no subreddit', async () => {
    const upstream = fakeUpstream(
      'reddit',
      (request) =>
        serveSignIn(request) ?? {
          body:
            request.at.pathname === '/search' ? listing([]) : listing([commentThing(1, SPEC_NOW)], 't1_zz'),
        },
    );
    const since = new Date(SPEC_NOW.getTime() - 3_600_000);
    const context = fakeContext(upstream.http, { since, pageCap: 10 });
    const fetched = await connector.search(criteriaOf({ query: 'lamp' }), context);
    expect([fetched.gap, upstream.requests.length]).toEqual([true, 1 + 1 + 3]);
  });

  it('fails with an error that names `filters.subreddit` if the subreddit does not exist', async () => {
    const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { status: 302 });
    const criteria = criteriaOf({ query: 'lamp', filters: { subreddit: 'nolamps' } });
    await expect(connector.search(criteria, fakeContext(upstream.http))).rejects.toMatchObject({
      kind: 'not_found',
      message: 'reddit answered 302: there is no such subreddit; check filters.subreddit',
    });
  });
});
