import { describeConnector } from '../testing/connector-contract.js';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import type { FakeRequest } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createSources } from '../registry.js';
import { createProducthuntConnector } from './index.js';
import { post, postId, posts, servePosts, variablesIn } from './testing/fixtures.js';

const withToken = () => createProducthuntConnector({ token: 'token-1', clientId: '', clientSecret: '' });
const asApplication = () => createProducthuntConnector({ token: '', clientId: 'id', clientSecret: 's3cret' });
const connector = withToken();

describeConnector('producthunt', {
  create: withToken,
  criteria: criteriaOf({ query: 'lamp' }),
  serve: servePosts,
  // No page size: paging has its own specs, because paging does not end at a known post.
  itemIdOf: (n) => `producthunt:${postId(n)}`,
  changedShapes: [
    {},
    [],
    { data: {} },
    { data: { posts: {} } },
    { data: { posts: { edges: {} } } },
    posts([{ slug: 'lamp', name: 'Lamp' }]),
    posts([post(1, SPEC_NOW, { name: undefined, title: 'Lamp' })]),
  ],
});

async function read(
  init: Parameters<typeof criteriaOf>[0],
  answer: (request: FakeRequest) => FakeAnswer = () => ({ body: posts([]) }),
  more: Partial<FetchContext> = {},
  of = connector,
) {
  const upstream = fakeUpstream('producthunt', answer);
  const fetched = await of.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { fetched, requests: upstream.requests };
}

describe('the request to Product Hunt', () => {
  it('asks for the newest posts, twenty in one response, from about 6 hours before the last read', async () => {
    const since = new Date('2026-03-04T11:07:00Z');
    const { requests } = await read({ query: 'lamp' }, undefined, { since });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: 'https://api.producthunt.com/v2/api/graphql',
        headers: { authorization: 'Bearer token-1', 'content-type': 'application/json' },
      },
    ]);
    const [request] = requests;
    expect(request && variablesIn(request)).toEqual({
      first: 20,
      after: null,
      // Rounded to ten minutes, so that searches that are due together share a request.
      postedAfter: '2026-03-04T05:00:00.000Z',
      topic: null,
    });
    expect(String(request?.body)).toContain('order: NEWEST');
  });

  it('asks for one page of the newest posts at the first read', async () => {
    const { requests, fetched } = await read({ query: 'lamp' }, () => ({
      body: posts([post(1, SPEC_NOW)], 'MjA'),
    }));
    expect(requests.map(variablesIn)).toMatchObject([{ postedAfter: null }]);
    expect([fetched.items.length, fetched.gap]).toEqual([1, false]);
  });

  it('is sent once for each topic of the search', async () => {
    const { requests } = await read({ filters: { topic: ['Developer-Tools', 'home'] } });
    expect(requests.map((request) => variablesIn(request)['topic'])).toEqual(['developer-tools', 'home']);
    expect(connector.requestsPerSearch(criteriaOf({ filters: { topic: ['a', 'b'] } }))).toBe(2);
  });

  it('is sent once for all searches of a batch', async () => {
    const upstream = fakeUpstream('producthunt', () => ({ body: posts([]) }));
    const reads = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, start: () => Promise<T>): Promise<T> => {
      const reading = (reads.get(key) as Promise<T> | undefined) ?? start();
      reads.set(key, reading);
      return reading;
    };
    await Promise.all(
      ['lamp', 'light'].map((query) =>
        connector.search(criteriaOf({ query }), fakeContext(upstream.http, { shared })),
      ),
    );
    expect(upstream.requests.length).toBe(1);
  });

  it('names no topic for the feed, which serves only searches without a topic', async () => {
    const since = new Date('2026-03-04T11:00:00Z');
    const upstream = fakeUpstream('producthunt', () => ({ body: posts([post(1, SPEC_NOW)]) }));
    const fetched = await connector.feed?.read(since, fakeContext(upstream.http, { since }));
    expect(fetched?.items.map(({ itemId }) => itemId)).toEqual([`producthunt:${postId(1)}`]);
    expect(upstream.requests.map(variablesIn)).toMatchObject([{ topic: null }]);
    const pages = [600, 3_600, 43_200].map((seconds) => connector.feed?.pagesFor(seconds) ?? 0);
    expect(pages).toEqual([5, 6, 13]);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'lamp' }))).toBeGreaterThan(Math.max(...pages));
    expect(connector.feed?.serves?.(criteriaOf({ query: 'lamp' }))).toBe(true);
    expect(connector.feed?.serves?.(criteriaOf({ filters: { topic: 'home' } }))).toBe(false);
  });
});

describe('paging on Product Hunt', () => {
  const made = Array.from({ length: 50 }, (_, n) => ({
    n: n + 1,
    at: new Date(SPEC_NOW.getTime() - (n + 1) * 60_000),
  }));
  const since = new Date('2026-03-04T11:00:00Z');
  const all = (request: FakeRequest) => servePosts(made, request);

  it('reads all posts since the last read, even if they are known', async () => {
    const { fetched, requests } = await read({ query: 'lamp' }, all, { since, known: () => true });
    expect([fetched.items.length, fetched.gap, requests.length]).toEqual([50, false, 3]);
  });

  it('ends at the page cap and reports a gap', async () => {
    const { fetched, requests } = await read({ query: 'lamp' }, all, { since, pageCap: 2 });
    expect([fetched.items.length, fetched.gap, requests.length]).toEqual([40, true, 2]);
  });

  it('returns a post only once, even if new posts have moved it to the next page', async () => {
    const pages = [
      posts([post(1, SPEC_NOW), post(2, SPEC_NOW)], 'Mg'),
      posts([post(2, SPEC_NOW), post(3, SPEC_NOW)]),
    ];
    const { fetched } = await read({ query: 'lamp' }, () => ({ body: pages.shift() ?? {} }), { since });
    expect(fetched.items.map(({ itemId }) => itemId)).toEqual(
      [1, 2, 3].map((n) => `producthunt:${postId(n)}`),
    );
  });
});

describe('signing in to Product Hunt', () => {
  const TOKEN_PATH = '/v2/oauth/token';
  const signedIn = (accepts: (token: string | undefined) => boolean) => {
    let signIns = 0;
    return ({ at, headers }: FakeRequest): FakeAnswer => {
      if (at.pathname === TOKEN_PATH) {
        signIns += 1;
        return { body: { access_token: `token-${signIns}`, token_type: 'Bearer', scope: 'public' } };
      }
      return accepts(headers?.['authorization'])
        ? { body: posts([]) }
        : { status: 401, body: { errors: [] } };
    };
  };

  it('happens only once for an application while the token is accepted', async () => {
    const session = new Map<string, unknown>();
    const answer = signedIn(() => true);
    const first = await read({ query: 'lamp' }, answer, { session }, asApplication());
    const second = await read({ query: 'lamp' }, answer, { session }, asApplication());
    expect(first.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.producthunt.com/v2/oauth/token',
      body: '{"client_id":"id","client_secret":"s3cret","grant_type":"client_credentials"}',
    });
    expect(first.requests[1]?.headers).toMatchObject({ authorization: 'Bearer token-1' });
    expect(second.requests.map(({ at }) => at.pathname)).toEqual(['/v2/api/graphql']);
  });

  it('is repeated once if the token is refused', async () => {
    const answer = signedIn((token) => token === 'Bearer token-2');
    const { requests } = await read({ query: 'lamp' }, answer, {}, asApplication());
    expect(requests.map(({ at }) => at.pathname)).toEqual([
      TOKEN_PATH,
      '/v2/api/graphql',
      TOKEN_PATH,
      '/v2/api/graphql',
    ]);
  });

  it('fails if the new token is also refused, and the error names the settings to check', async () => {
    const reading = read(
      { query: 'lamp' },
      signedIn(() => false),
      {},
      asApplication(),
    );
    await expect(reading).rejects.toMatchObject({
      kind: 'unauthorized',
      message:
        'producthunt answered 401: the credentials were not accepted; check SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET',
    });
  });

  it('fails if it is refused, and nothing is stored in the session', async () => {
    const session = new Map<string, unknown>();
    const answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
    await expect(read({ query: 'lamp' }, answer, { session }, asApplication())).rejects.toMatchObject({
      kind: 'unauthorized',
      statusCode: 400,
    });
    expect(session.size).toBe(0);
  });

  it('reports a refused developer token', async () => {
    const body = { data: null, errors: [{ error: 'invalid_oauth_token', error_description: 'x' }] };
    for (const status of [200, 401]) {
      await expect(read({ query: 'lamp' }, () => ({ status, body }))).rejects.toMatchObject({
        kind: 'unauthorized',
        message: `producthunt answered ${status}: the credentials were not accepted; check SOURCE_PRODUCTHUNT_TOKEN`,
      });
    }
  });
});

describe('faults of Product Hunt:', () => {
  const limit = (details: object) => ({ data: null, errors: [{ error: 'rate_limit_reached', details }] });

  it.each([
    ['a list of errors', { status: 429, body: limit({ remaining: -50, reset_in: 102 }) }, 429, 102_000],
    [
      'an error of the old kind',
      { status: 429, body: { error: 'rate_limit_reached', details: { reset_in: 156 } } },
      429,
      156_000,
    ],
    ['a response with status 200', { status: 200, body: limit({ reset_in: 7 }) }, 200, 7_000],
    [
      'headers',
      { status: 429, headers: { 'x-rate-limit-remaining': '-3', 'x-rate-limit-reset': '9' }, body: 'Wait.' },
      429,
      9_000,
    ],
  ])(
    'a used-up budget of points is reported, with the time to wait from %s',
    async (_, answer, status, retryAfterMs) => {
      await expect(read({ query: 'lamp' }, () => answer)).rejects.toMatchObject({
        kind: 'rate_limited',
        message: `producthunt answered ${status}: too many requests, asked to wait ${retryAfterMs / 1000} s`,
        retryAfterMs,
      });
    },
  );

  it('a refusal by Cloudflare is reported as a refusal by Cloudflare', async () => {
    const answer = () => ({ status: 403, body: '<!DOCTYPE html><title>Just a moment...</title>' });
    await expect(read({ query: 'lamp' }, answer)).rejects.toMatchObject({
      kind: 'forbidden',
      message:
        'producthunt answered 403: its protection against robots (Cloudflare) refused this server; the block may be temporary, or the address is blocked permanently',
    });
  });

  it('a query that is not understood is reported, although the answer has status 200', async () => {
    const body = { errors: [{ message: "Field 'x' doesn't exist on type 'Post'", path: ['query'] }] };
    await expect(read({ query: 'lamp' }, () => ({ body }))).rejects.toMatchObject({
      kind: 'unexpected_status',
      message: 'producthunt answered 200 with a fault: the request was not understood',
    });
  });
});

describe('criteria and settings of Product Hunt', () => {
  const wanted = 'must be a topic as written in its address, such as "developer-tools", or a list of them';
  it.each([
    [{}, 'query', 'a search on producthunt needs a query, terms or filters.topic'],
    [{ query: 'lamp', filters: { topic: 7 } }, 'filters.topic', wanted],
    [
      { query: 'lamp', filters: { topic: 'Developer Tools' } },
      'filters.topic',
      `${wanted}; "Developer Tools" is not valid`,
    ],
    [{ query: 'lamp', sort: 'votes' }, 'sort', 'producthunt sorts by newest, not by "votes"'],
  ])('cannot be %j', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  const missing =
    'SOURCE_PRODUCTHUNT_TOKEN, or SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET';
  it.each([
    [{}, [missing]],
    [{ SOURCE_PRODUCTHUNT_CLIENT_ID: 'a' }, [missing]],
    [{ SOURCE_PRODUCTHUNT_CLIENT_ID: 'a', SOURCE_PRODUCTHUNT_CLIENT_SECRET: 'b' }, []],
    [{ SOURCE_PRODUCTHUNT_TOKEN: 'c' }, []],
  ])('have, with the environment %j, the missing settings %j', (env, missingSettings) => {
    expect(createSources(env).get('producthunt')).toMatchObject({
      configured: missingSettings.length === 0,
      missingSettings,
    });
  });
});
