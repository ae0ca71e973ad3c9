import { describeConnector } from '../testing/connector-contract.js';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import { createMastodonConnector } from './index.js';
import { servePosts, status, statusUri } from './testing/fixtures.js';
import { NOTHING, quiet, read, withToken, withoutToken } from './testing/search.js';

const TAGS_ONLY = 'mastodon: without SOURCE_MASTODON_TOKEN only hashtags are searched';

describeConnector('mastodon, with a token', {
  create: withToken,
  criteria: criteriaOf({ query: 'lamp' }),
  // Full text only: hashtags and timelines have their own specs.
  match: 'platform',
  serve: servePosts,
  pageSize: 40,
  itemIdOf: statusUri,
  changedShapes: [
    {},
    [],
    { accounts: [] },
    { statuses: {} },
    { statuses: [{ id: '1', text: 'Lamp' }] },
    { statuses: [{ ...status(1, SPEC_NOW), content: undefined, text: 'Lamp' }] },
  ],
});

describe('the request to Mastodon with a token', () => {
  it('searches the full text for each term, and the hashtags of all terms together', async () => {
    const { asked, requests } = await read(
      withToken(),
      { query: 'led', terms: ['Lamp', 'desk light'] },
      quiet,
    );
    expect(asked).toEqual([
      '/api/v2/search?q="led"+"Lamp"&type=statuses&limit=40',
      '/api/v2/search?q="led"+"desk+light"&type=statuses&limit=40',
      '/api/v1/timelines/tag/led?any[]=lamp&any[]=desklight&limit=40',
      '/api/v1/timelines/tag/lamp?any[]=desklight&limit=40',
      '/api/v1/timelines/tag/desklight?limit=40',
    ]);
    expect(requests.map(({ at, headers }) => [at.host, headers?.['authorization']])).toEqual(
      asked.map(() => ['mastodon.social', 'Bearer token-1']),
    );
    expect(withToken().requestsPerSearch(criteriaOf({ query: 'led', terms: ['a1', 'b1'] }))).toBe(3);
  });

  it.each([
    ['word', 'lamp', '"lamp"'],
    ['contains', 'lamp', 'lamp'],
    ['contains', 'desk lamp', '"desk+lamp"'],
    ['platform', 'lamp -led', 'lamp+-led'],
  ] as const)('uses the mode `%s` to turn the query `%s` into the text `%s`', async (match, query, text) => {
    const { asked } = await read(withToken(), { query }, quiet, { match });
    expect(asked[0]).toBe(`/api/v2/search?q=${text}&type=statuses&limit=40`);
  });

  it('causes a warning if the full-text search finds nothing, but the hashtag has posts', async () => {
    const tagged = Array.from({ length: 10 }, (_, n) => status(n, SPEC_NOW));
    const answer = (path: string): FakeAnswer => ({ body: path === '/api/v2/search' ? NOTHING : tagged });
    const doubt =
      'mastodon: the search of mastodon.social finds no posts, but its hashtags do; the server may have no full-text search';
    expect((await read(withToken(), { query: 'lamp' }, answer)).fetched.warnings).toEqual([doubt]);
    expect((await read(withToken(), { query: 'desk lamp' }, answer)).fetched.warnings).toEqual([]);
  });

  it('reports a refused token, with the setting to check', async () => {
    const reading = read(withToken(), { query: 'lamp' }, () => ({
      status: 401,
      body: { error: 'ungültig' },
    }));
    await expect(reading).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'mastodon answered 401: the token was not accepted; check SOURCE_MASTODON_TOKEN',
    });
  });
});

describe('the request to Mastodon without a token', () => {
  it('asks only for hashtags, at most four in one request, and causes a warning about this', async () => {
    const terms = ['Acme Rocket', 'C++', 'größe', '東京', 'x-ray', '2026', '💡'];
    const { asked, fetched, requests } = await read(withoutToken(), { terms }, (path) => ({
      body: path.includes('acmerocket') || path.includes('xray') ? [status(1, SPEC_NOW)] : [],
    }));
    expect(asked).toEqual([
      '/api/v1/timelines/tag/acmerocket?any[]=c&any[]=größe&any[]=東京&limit=40',
      '/api/v1/timelines/tag/xray?limit=40',
    ]);
    expect(requests[0]?.headers?.['authorization']).toBeUndefined();
    expect(fetched.warnings).toEqual([TAGS_ONLY]);
    expect(fetched.items.map(({ itemId }) => itemId)).toEqual([statusUri(1)]);
  });

  it('asks in mode `platform` for posts that have both query and term as hashtags', async () => {
    const init = { query: 'led', terms: ['lamp', 'light'] };
    const { asked } = await read(withoutToken(), init, quiet, { match: 'platform' });
    expect(asked).toEqual([
      '/api/v1/timelines/tag/led?all[]=lamp&limit=40',
      '/api/v1/timelines/tag/led?all[]=light&limit=40',
    ]);
  });

  it('is repeated with the next hashtag first if no post has the first hashtag', async () => {
    const answer = (path: string): FakeAnswer => ({
      body: path.endsWith('/lamp') ? [status(1, SPEC_NOW)] : [],
    });
    const session = new Map<string, unknown>();
    const init = { terms: ['nobodysword', 'lamp'] };
    const first = await read(withoutToken(), init, answer, { session });
    expect(first.asked).toEqual([
      '/api/v1/timelines/tag/nobodysword?any[]=lamp&limit=40',
      '/api/v1/timelines/tag/lamp?limit=40',
    ]);
    expect(first.fetched.items.length).toBe(1);
    const second = await read(withoutToken(), init, answer, { session });
    expect(second.asked).toEqual(['/api/v1/timelines/tag/lamp?any[]=nobodysword&limit=40']);
    const later = new Date(SPEC_NOW.getTime() + 3_600_001);
    expect((await read(withoutToken(), init, answer, { session, now: later })).asked.length).toBe(2);
  });

  it('reads pages by the Link header up to a post that the instance received before the last read', async () => {
    const posts = Array.from({ length: 200 }, (_, n) => ({
      n: n + 1,
      at: new Date(SPEC_NOW.getTime() - n * 60_000),
    }));
    const upstream = fakeUpstream('mastodon', (request) =>
      request.at.pathname.endsWith('/public') ? { status: 422 } : servePosts(posts, request),
    );
    const since = new Date(SPEC_NOW.getTime() - 3_600_000);
    const reading = withoutToken().search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since }),
    );
    const { items, gap } = await reading;
    expect([items.length, gap, upstream.requests.length]).toEqual([80, false, 3]);
  });

  it('reads the next page even if a post arrived late and has an old date', async () => {
    const at = (minute: number) => new Date(SPEC_NOW.getTime() - minute * 60_000);
    const late = { created_at: '2026-03-01T00:00:00.000Z' };
    const pages = [[status(1, at(0)), status(2, at(1), late)], [status(3, at(2))], []];
    const { fetched, asked } = await read(
      withoutToken(),
      { query: 'lamp' },
      (path) => (path.endsWith('/public') ? { status: 422 } : { body: pages.shift() ?? [] }),
      { since: at(60) },
    );
    expect(fetched.items.map(({ itemId }) => itemId)).toEqual([1, 3, 2].map(statusUri));
    expect(asked.length).toBe(4);
  });

  it.each([401, 422])(
    'fails with an error that names the setting of the token if hashtags require a sign-in (status %i)',
    async (code) => {
      const reading = read(withoutToken(), { query: 'lamp' }, () => ({ status: code, body: { error: 'x' } }));
      await expect(reading).rejects.toMatchObject({
        kind: 'unauthorized',
        message: `mastodon answered ${code}: the server shows its posts only to its own accounts; set SOURCE_MASTODON_TOKEN`,
        reach: 'upstream',
      });
    },
  );
});

describe('the public timeline of an instance', () => {
  const since = new Date(SPEC_NOW.getTime() - 600_000);
  const postsEvery = (seconds: number) => (request: Parameters<typeof servePosts>[1]) =>
    servePosts(
      Array.from({ length: 900 }, (_, n) => ({ n, at: new Date(SPEC_NOW.getTime() - n * seconds * 1000) })),
      request,
    );
  async function searched(seconds: number, connector = withoutToken()) {
    const upstream = fakeUpstream('mastodon', postsEvery(seconds));
    const context = () => fakeContext(upstream.http, { since, pageCap: 10 });
    const fetched = await connector.search(criteriaOf({ query: 'lamp' }), context());
    const paths = () => upstream.requests.map(({ at }) => at.pathname.split('/').at(-1));
    return { fetched, paths, again: () => connector.search(criteriaOf({ query: 'lamp' }), context()) };
  }

  it('is read back to the last read, without a gap or a warning, if it has few posts', async () => {
    const { fetched, paths } = await searched(10);
    expect(paths()).toEqual(['public', 'public']);
    expect([fetched.gap, fetched.warnings, fetched.items.length]).toEqual([false, [], 80]);
  });

  it('is read only once, to measure its posts, if it has too many posts', async () => {
    const { fetched, paths, again } = await searched(1);
    expect(fetched.warnings).toEqual([TAGS_ONLY]);
    const before = paths().length;
    expect(paths()[0]).toBe('public');
    await again();
    expect(paths().slice(before)).not.toContain('public');
  });

  it('is used as the feed of an installation with a token after a read has shown that it has few posts', async () => {
    const connector = withToken();
    expect(connector.feed?.pagesFor(300)).toBe(Infinity);
    await searched(10, connector);
    expect([60, 900, 7_200].map((seconds) => connector.feed?.pagesFor(seconds))).toEqual([1, 5, Infinity]);
    const upstream = fakeUpstream('mastodon', postsEvery(10));
    const fetched = await connector.feed?.read(since, fakeContext(upstream.http, { since }));
    expect(fetched?.items.length).toBe(80);
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer token-1' });
    expect(withoutToken().feed).toBeUndefined();
  });

  it('is not used as the feed of a search that names instances', () => {
    const { feed } = withToken();
    expect(feed?.serves?.(criteriaOf({ query: 'lamp' }))).toBe(true);
    const filters = { instances: ['light.example'] };
    expect(feed?.serves?.(criteriaOf({ query: 'lamp', filters }))).toBe(false);
  });

  it('is read once for all searches of a batch', async () => {
    const upstream = fakeUpstream('mastodon', postsEvery(10));
    const reads = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, start: () => Promise<T>): Promise<T> => {
      const reading = (reads.get(key) as Promise<T> | undefined) ?? start();
      reads.set(key, reading);
      return reading;
    };
    const connector = withoutToken();
    await Promise.all(
      ['lamp', 'light'].map((query) =>
        connector.search(criteriaOf({ query }), fakeContext(upstream.http, { since, shared })),
      ),
    );
    expect(upstream.requests.length).toBe(2);
  });
});

describe('criteria on Mastodon', () => {
  it.each([
    [{}, 'query', 'a search on mastodon needs a query or terms'],
    [
      { query: 'lamp', filters: { instances: 7 } },
      'filters.instances',
      'must be a list of 1 to 5 servers, for example "fosstodon.org"',
    ],
    [{ query: 'lamp', sort: 'top' }, 'sort', 'mastodon sorts by newest, not by "top"'],
    [
      { query: '💡' },
      'query',
      'without SOURCE_MASTODON_TOKEN mastodon is searched by hashtags, and no word of this search can be a hashtag',
    ],
  ])('cannot be %j', (init, path, message) => {
    expect(withoutToken().checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  it('can be a query that contains no possible hashtag if there is a token', () => {
    expect(withToken().checkCriteria(criteriaOf({ query: '💡', sort: 'newest' }))).toEqual([]);
  });

  it('need a word that can be a hashtag if they name other servers, even with a token', () => {
    const filters = { instances: ['fosstodon.org'] };
    expect(withToken().checkCriteria(criteriaOf({ query: '💡', filters }))).toEqual([
      {
        path: 'query',
        message:
          'the servers of filters.instances are searched by hashtags, and no word of this search can be a hashtag',
      },
    ]);
  });
});

it('a connector is not created if SOURCE_MASTODON_INSTANCE is not the name of a server', () => {
  expect(() => createMastodonConnector({ instance: 'http://localhost', token: '' })).toThrow(
    'SOURCE_MASTODON_INSTANCE must be the name of a server, for example mastodon.social',
  );
});
