import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { createLemmyConnector } from './index.js';
import {
  commentUrl,
  commentView,
  inV4,
  postUrl,
  postView,
  servePosts,
  serveSite,
} from './testing/fixtures.js';
import { NOTHING, connector, create, read } from './testing/search.js';
import { siteOf } from './site.js';

describe.each([
  ['v3', '0.19.20'],
  ['v4', '1.0.0'],
] as const)('Lemmy with the API %s', (api, version) => {
  describeConnector('lemmy', {
    create,
    criteria: criteriaOf({ query: 'lamp' }),
    serve: (posts, request) => servePosts(api, posts, request),
    signIn: (request) => serveSite(version, request),
    pageSize: 50,
    itemIdOf: postUrl,
    changedShapes: [
      {},
      [],
      { posts: [] },
      { posts: {}, comments: {} },
      { posts: [{ post: { id: 1 } }], comments: [] },
      { posts: [postView(1, SPEC_NOW, { post: { name: undefined, title: 'Lamp' } })], comments: [] },
    ],
  });
});

describe('the request to Lemmy', () => {
  it('asks for posts and comments together, with one request for each term, newest first', async () => {
    const { asked, requests } = await read({ terms: ['lamp', '"desk light"'] });
    expect(asked).toEqual([
      '/api/v3/search?q=lamp&type_=All&sort=New&listing_type=All&limit=50&page=1',
      '/api/v3/search?q=desk+light&type_=All&sort=New&listing_type=All&limit=50&page=1',
    ]);
    expect(requests.map(({ at }) => at.host)).toEqual(['lemmy.world', 'lemmy.world', 'lemmy.world']);
    // A search counts as two requests: servers limit searches more strictly than the lists of the feed.
    expect(connector.requestsPerSearch(criteriaOf({ terms: ['lamp', 'light'] }))).toBe(4);
  });

  it('stays within the default limits of a server for 15 minutes: 60 searches, and six more each minute', () => {
    const { requestsPerMinute } = connector.budget;
    expect(requestsPerMinute * 15).toBeLessThanOrEqual(60 + 6 * 15);
  });

  it('contains only the longer of query and term, but both in mode `platform`', async () => {
    const init = { query: 'acme', terms: ['lamp stand', 'led', 'bulb'] };
    expect((await read(init)).asked.map((path) => /q=([^&]*)/.exec(path)?.[1])).toEqual([
      'lamp+stand',
      'acme',
    ]);
    const { asked } = await read(init, { more: { match: 'platform' } });
    expect(asked.map((path) => /q=([^&]*)/.exec(path)?.[1])).toEqual([
      'acme+lamp+stand',
      'acme+led',
      'acme+bulb',
    ]);
  });

  it('uses v4 for version 1.0, because its v3 is incomplete', async () => {
    const { asked } = await read({ query: 'lamp' }, { version: '1.0.0-beta.3' });
    expect(asked).toEqual(['/api/v4/search?q=lamp&type_=all&sort=new&listing_type=all&limit=50']);
  });

  it.each([404, 410])('uses v4 if v3 answers %i', async (status) => {
    const upstream = fakeUpstream('lemmy', ({ at }) =>
      at.pathname.startsWith('/api/v3') ? { status } : { body: { search: [], next_page: null } },
    );
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
    expect(upstream.requests.map(({ at }) => at.pathname)).toEqual(['/api/v3/site', '/api/v4/search']);
  });

  it('is preceded by a request for the version of the server, but only every six hours', async () => {
    const session = new Map<string, unknown>();
    const sitesAsked = async (now = SPEC_NOW) => {
      const { requests } = await read({ query: 'lamp' }, { more: { session, now } });
      return requests.filter(({ at }) => at.pathname === '/api/v3/site').length;
    };
    expect([await sitesAsked(), await sitesAsked()]).toEqual([1, 0]);
    expect(await sitesAsked(new Date(SPEC_NOW.getTime() + 6 * 3_600_000 + 1))).toBe(1);
  });

  it('fails, and is repeated at the next read, if the site is not a Lemmy server', async () => {
    const session = new Map<string, unknown>();
    const upstream = fakeUpstream('lemmy', () => ({ body: { name: 'Lamps' } }));
    const reading = connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { session }));
    await expect(reading).rejects.toMatchObject({
      kind: 'unknown_shape',
      message: 'lemmy answered in an unknown shape: expected a site with a "version"',
    });
    const again = connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { session }));
    await expect(again).rejects.toMatchObject({ kind: 'unknown_shape' });
    expect(upstream.requests.length).toBe(2);
  });

  it('caches the versions of at most 200 servers, each with fewer than 500 languages', async () => {
    const session = new Map<string, unknown>();
    const all_languages = Array.from({ length: 2_000 }, (_, id) => ({
      id,
      code: id === 3 ? 'x'.repeat(99) : 'en',
    }));
    const answer = { body: { version: '0.19.20', all_languages } };
    const upstream = fakeUpstream('lemmy', () => answer);
    const context = fakeContext(upstream.http, { session });
    const siteOn = (n: number) => siteOf(context, { host: `s${n}.example`, token: undefined, own: false });
    const { languages } = await siteOn(0);
    expect([languages.size, languages.has(3)]).toEqual([499, false]);
    for (let n = 1; n <= 200; n += 1) await siteOn(n);
    await siteOn(200);
    expect(upstream.requests.length).toBe(201);
    await siteOn(0);
    expect(upstream.requests.length).toBe(202);
  });

  it('is limited to the communities of the search', async () => {
    const filters = { community: ['!Lighting@light.example', 'c/lamps'] };
    const { asked, fetched } = await read(
      { query: 'lamp', filters },
      { answer: () => ({ body: { posts: [postView(1, SPEC_NOW)], comments: [] } }) },
    );
    expect(asked).toEqual([
      '/api/v3/search?q=lamp&type_=All&sort=New&listing_type=All&community_name=lighting@light.example&community_name_or_id=lighting@light.example&limit=50&page=1',
      '/api/v3/search?q=lamp&type_=All&sort=New&listing_type=All&community_name=lamps&community_name_or_id=lamps&limit=50&page=1',
    ]);
    // A server that does not know a community responds with posts of all communities.
    expect(fetched.items.length).toBe(1);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'lamp', filters }))).toBe(4);
  });

  it('asks for all new posts and comments of the communities if the search has no words', async () => {
    const filters = { community: 'lamps@light.example' };
    const { asked } = await read({ filters });
    expect(asked.map((path) => path.split('?')[0])).toEqual(['/api/v3/post/list', '/api/v3/comment/list']);
    expect(asked[0]).toContain('type_=All&sort=New&community_name=lamps@light.example');
    expect(connector.requestsPerSearch(criteriaOf({ filters }))).toBe(2);
  });

  it('sends a token only to the configured server', async () => {
    const signedIn = createLemmyConnector({ instance: 'own.example', token: 'jwt-1' });
    const filters = { instances: ['own.example', 'light.example'] };
    const { requests } = await read({ query: 'lamp', filters }, {}, signedIn);
    expect(
      new Set(requests.map(({ at, headers }) => `${at.host} ${headers?.['authorization'] ?? '-'}`)),
    ).toEqual(new Set(['own.example Bearer jwt-1', 'light.example -']));
  });
});

describe('paging on Lemmy', () => {
  const at = (minute: number) => new Date(SPEC_NOW.getTime() - minute * 60_000);
  const since = at(60);

  it('continues until both posts and comments reach back to the last read', async () => {
    const comments = Array.from({ length: 60 }, (_, n) => commentView(n, at(n)));
    const pages = [
      { posts: [postView(1, at(1))], comments: comments.slice(0, 50) },
      { posts: [], comments: comments.slice(50) },
    ];
    const { fetched, asked } = await read(
      { query: 'lamp' },
      {
        answer: () => ({ body: pages.shift() ?? NOTHING }),
        more: { since, known: (itemId) => itemId === postUrl(1) },
      },
    );
    expect([fetched.items.length, fetched.gap, asked.length]).toEqual([61, false, 2]);
  });

  it('is not ended by a pinned post, even if it is old and known', async () => {
    const pinned = postView(99, at(90_000), { post: { featured_local: true } });
    // The page size is 50, and a pinned post takes one place.
    const first = [pinned, ...Array.from({ length: 49 }, (_, n) => postView(n, at(n)))];
    const pages = [
      { posts: first, next_page: 'P2' },
      { posts: [postView(60, at(60)), postView(80, at(80))] },
    ];
    const { fetched, asked } = await read(
      { filters: { community: 'lighting@light.example' } },
      {
        answer: (path) => ({
          body: path.endsWith('/post/list') ? (pages.shift() ?? NOTHING) : { comments: [] },
        }),
        more: { since, known: (itemId) => itemId === postUrl(99) },
      },
    );
    expect(
      asked.filter((path) => path.includes('post/list')).map((path) => /page.*/.exec(path)?.[0]),
    ).toEqual(['page=1', 'page_cursor=P2']);
    expect([fetched.items.length, fetched.gap]).toEqual([52, false]);
  });

  it('includes posts from 5 minutes before the last read, because posts from other servers arrive late', async () => {
    const full = Array.from({ length: 50 }, (_, n) => postView(n, at(10 + n)));
    const { asked } = await read(
      { query: 'lamp' },
      {
        answer: () => ({ body: { posts: full, comments: [] } }),
        more: { since: at(55), pageCap: 2 },
      },
    );
    expect(asked.length).toBe(2);
  });
});

describe('the feed of Lemmy', () => {
  it('consists of the newest posts and the newest comments', async () => {
    const upstream = fakeUpstream('lemmy', (request) => {
      const { pathname } = request.at;
      const site = serveSite('1.0.0', request);
      if (site) return site;
      return {
        body: {
          items: [inV4(pathname.endsWith('/post/list') ? postView(1, SPEC_NOW) : commentView(1, SPEC_NOW))],
          next_page: null,
        },
      };
    });
    const since = new Date('2026-03-04T11:00:00Z');
    const fetched = await connector.feed?.read(since, fakeContext(upstream.http, { since }));
    expect(fetched?.items.map(({ itemId }) => itemId).sort()).toEqual([commentUrl(1), postUrl(1)]);
    expect(upstream.requests.slice(1).map(({ at }) => `${at.pathname}${at.search}`)).toEqual([
      '/api/v4/post/list?type_=all&sort=new&limit=50',
      '/api/v4/comment/list?type_=all&sort=new&limit=50',
    ]);
  });

  it('needs more pages for a longer period, and is not used if its comments need more than 10 pages', () => {
    expect([60, 600, 900, 3_600].map((seconds) => connector.feed?.pagesFor(seconds))).toEqual([
      4,
      10,
      13,
      Infinity,
    ]);
  });

  it.each([
    [{ query: 'lamp' }, true],
    [{ query: 'lamp', filters: { instances: 'light.example' } }, false],
    [{ query: 'lamp', filters: { community: 'lamps' } }, false],
  ])('can serve the search %j: %s', (init, serves) => {
    expect(connector.feed?.serves?.(criteriaOf(init))).toBe(serves);
  });
});
