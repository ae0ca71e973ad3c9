import { describeConnector } from '../testing/connector-contract.js';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createGithubConnector } from './index.js';
import { discussion, discussions, issue, nodeId, repository, serveIssues } from './testing/fixtures.js';

const withToken = createGithubConnector({ token: 'token-1' });
const withoutToken = createGithubConnector({ token: '' });

describeConnector('github', {
  create: () => createGithubConnector({ token: '' }),
  criteria: criteriaOf({ query: 'lamp', filters: { kinds: ['issue'] } }),
  serve: serveIssues,
  pageSize: 100,
  itemIdOf: nodeId,
  changedShapes: [
    {},
    [],
    { issues: [] },
    { items: {} },
    { items: [{ id: 1 }] },
    { items: [issue(1, SPEC_NOW, { title: undefined, name: 'Lamp' })] },
  ],
});

interface Asking {
  of?: typeof withToken;
  more?: Partial<FetchContext>;
  answer?: FakeAnswer;
}

async function read(init: Parameters<typeof criteriaOf>[0], asking: Asking = {}) {
  const { of = withoutToken, more = {}, answer = { body: { items: [] } } } = asking;
  const upstream = fakeUpstream('github', ({ method }) =>
    method === 'POST' && asking.answer === undefined ? { body: discussions([]) } : answer,
  );
  const fetched = await of.search(criteriaOf(init), fakeContext(upstream.http, more));
  const asked = upstream.requests.map(
    ({ at, body }) =>
      at.searchParams.get('q') ?? (JSON.parse(String(body)) as { variables: { q: string } }).variables.q,
  );
  return { fetched, asked, requests: upstream.requests };
}

const issues = { kinds: ['issue'] };
const repositories = { kinds: ['repository'] };

describe('the request to GitHub', () => {
  it('asks for issues, pull requests and repositories separately, with all terms together, newest first', async () => {
    const { asked, requests } = await read({ terms: ['lamp', 'desk light'] });
    expect(asked).toEqual([
      '(lamp OR "desk light") is:issue in:title,body',
      '(lamp OR "desk light") is:pull-request in:title,body',
      'lamp OR "desk light" created:>=2026-02-02T11:50:00Z',
    ]);
    expect(requests.map(({ at }) => `${at.pathname} ${at.searchParams.get('sort')}`)).toEqual([
      '/search/issues created',
      '/search/issues created',
      '/search/repositories updated',
    ]);
    expect(requests[0]?.url).toContain('&order=desc&per_page=100&page=1');
    expect(requests[0]?.headers).toEqual({
      accept: 'application/vnd.github+json',
      'accept-encoding': 'gzip, deflate, br',
      'x-github-api-version': '2022-11-28',
    });
    expect(withoutToken.requestsPerSearch(criteriaOf({ terms: ['lamp', 'light'] }))).toBe(3);
  });

  it('begins a little before the last read', async () => {
    const since = new Date('2026-03-04T11:00:00.500Z');
    const { asked } = await read(
      { query: 'lamp', filters: { kinds: ['issue', 'repository'] } },
      { more: { since } },
    );
    expect(asked).toEqual([
      'lamp is:issue in:title,body created:>=2026-03-04T10:50:00Z',
      'lamp created:>=2026-03-04T10:50:00Z',
    ]);
  });

  it('with a token asks for discussions too', async () => {
    const { asked, requests } = await read({ query: 'lamp' }, { of: withToken });
    expect(asked).toEqual([
      'lamp is:issue in:title,body',
      'lamp is:pull-request in:title,body',
      'lamp sort:created-desc',
      'lamp created:>=2026-02-02T11:50:00Z',
    ]);
    expect(requests[2]).toMatchObject({ method: 'POST', url: 'https://api.github.com/graphql' });
    expect(requests.every(({ headers }) => headers?.['authorization'] === 'Bearer token-1')).toBe(true);
    expect([withToken, withoutToken].map(({ budget }) => budget.requestsPerMinute)).toEqual([28, 9]);
  });

  it('has at most six terms, because five operators are allowed', async () => {
    const terms = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'];
    expect((await read({ terms, filters: issues })).asked).toEqual([
      '(a1 OR b1 OR c1 OR d1 OR e1 OR f1) is:issue in:title,body',
      'g1 is:issue in:title,body',
    ]);
  });

  it('has at most 256 characters of words', async () => {
    const terms = Array.from({ length: 6 }, (_, n) => `a term of quite some length, for a term, number ${n}`);
    const words = (await read({ terms, filters: issues })).asked.map((q) =>
      q.replace(' is:issue in:title,body', ''),
    );
    expect(words.map((one) => one.replace(/^\(|\)$/g, '').length <= 256)).toEqual([true, true]);
    expect(words.join().match(/number \d/g)?.length).toBe(6);
  });

  it('has the query in front of the terms where brackets are known, else of each term', async () => {
    const init = { query: 'acme', terms: ['lamp', 'AND'] };
    expect((await read({ ...init, filters: issues })).asked).toEqual([
      'acme (lamp OR "AND") is:issue in:title,body',
    ]);
    expect((await read({ ...init, filters: repositories })).asked).toEqual([
      'acme lamp created:>=2026-02-02T11:50:00Z',
      'acme "AND" created:>=2026-02-02T11:50:00Z',
    ]);
  });

  it('in mode platform contains the unchanged words', async () => {
    const init = { terms: ['lamp NOT led', 'label:bug light'], filters: issues };
    expect((await read(init, { more: { match: 'platform' } })).asked).toEqual([
      'lamp NOT led is:issue',
      'label:bug light is:issue',
    ]);
  });

  it('is limited to repositories, organisations and accounts', async () => {
    const places = { repo: ['lamps/desk', 'lamps/floor'], org: 'light' };
    const kinds = ['issue', 'repository'];
    const { asked } = await read({ query: 'lamp', filters: { ...places, kinds } });
    expect(asked).toEqual([
      'lamp (repo:lamps/desk OR repo:lamps/floor OR org:light) is:issue in:title,body',
      'lamp repo:lamps/desk repo:lamps/floor org:light created:>=2026-02-02T11:50:00Z',
    ]);
    const terms = ['a1', 'b1', 'c1', 'd1', 'e1'];
    expect((await read({ terms, filters: { ...places, ...issues } })).asked.length).toBe(2);
    expect((await read({ filters: { user: 'Ada-B', ...issues } })).asked).toEqual(['user:Ada-B is:issue']);
  });

  it('can ask for repositories in one language', async () => {
    const filters = { language: 'Jupyter Notebook', kinds: ['issue', 'repository'] };
    expect((await read({ query: 'lamp', filters })).asked).toEqual([
      'lamp is:issue in:title,body',
      'lamp language:"Jupyter Notebook" created:>=2026-02-02T11:50:00Z',
    ]);
  });
});

describe('paging on GitHub', () => {
  const since = new Date('2026-03-04T11:00:00Z');

  it('continues past a known repository, because they are not sorted by creation', async () => {
    const pages = [
      Array.from({ length: 100 }, (_, n) => repository(n, SPEC_NOW)),
      [repository(200, SPEC_NOW)],
    ];
    const upstream = fakeUpstream('github', () => ({ body: { items: pages.shift() ?? [] } }));
    const context = fakeContext(upstream.http, { since, known: () => true });
    const fetched = await withoutToken.search(criteriaOf({ query: 'lamp', filters: repositories }), context);
    expect([fetched.items.length, fetched.gap, upstream.requests.length]).toEqual([101, false, 2]);
  });

  it('ends at the thousandth result, and that is a gap', async () => {
    const upstream = fakeUpstream('github', ({ at }) => {
      const page = Number(at.searchParams.get('page'));
      return { body: { items: Array.from({ length: 100 }, (_, n) => issue(page * 100 + n, SPEC_NOW)) } };
    });
    const context = fakeContext(upstream.http, { since, pageCap: 20 });
    const fetched = await withoutToken.search(criteriaOf({ query: 'lamp', filters: issues }), context);
    expect([fetched.items.length, fetched.gap, upstream.requests.length]).toEqual([1000, true, 10]);
  });

  it('of discussions follows the cursor', async () => {
    const pages = [discussions([discussion(1, SPEC_NOW)], 'c1'), discussions([discussion(2, SPEC_NOW)])];
    const upstream = fakeUpstream('github', () => ({ body: pages.shift() ?? {} }));
    const criteria = criteriaOf({ query: 'lamp', filters: { kinds: 'discussion' } });
    const fetched = await withToken.search(criteria, fakeContext(upstream.http, { since }));
    expect([fetched.items.length, fetched.gap]).toEqual([2, false]);
    const variables = upstream.requests.map(
      ({ body }) => (JSON.parse(String(body)) as { variables: object }).variables,
    );
    expect(variables).toMatchObject([{ first: 100, after: null }, { after: 'c1' }]);
  });

  it('a search that ran out of time is reported', async () => {
    const { fetched } = await read(
      { query: 'lamp', filters: issues },
      { answer: { body: { items: [issue(1, SPEC_NOW)], incomplete_results: true } } },
    );
    expect(fetched.items.length).toBe(1);
    expect(fetched.warnings).toEqual(['github: the search ran out of time; some results may be missing']);
  });
});

describe('faults of GitHub', () => {
  const reset = String(SPEC_NOW.getTime() / 1000 + 42);
  const secondary = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' };

  it.each([
    [
      'a secondary limit with a time',
      { status: 403, headers: { 'retry-after': '8' }, body: secondary },
      'github answered 403: too many requests in a short time, asked to wait 8 s',
      8_000,
    ],
    [
      'a secondary limit in a window that is used up',
      { status: 429, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: secondary },
      'github answered 429: too many requests in a short time, asked to wait 42 s',
      42_000,
    ],
    [
      'a secondary limit without a time',
      { status: 403, headers: { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': reset }, body: secondary },
      'github answered 403: too many requests in a short time, asked to wait 60 s',
      60_000,
    ],
    [
      'a window that is used up',
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: {} },
      'github answered 403: too many requests, asked to wait 42 s',
      42_000,
    ],
    [
      'the same in words alone',
      { status: 403, body: { message: 'API Rate Limit Exceeded for 192.0.2.1' } },
      'github answered 403: too many requests, asked to wait',
      undefined,
    ],
  ])('%s is reported, with the time to wait', async (_, answer, message, retryAfterMs) => {
    const reading = read({ query: 'lamp', filters: issues }, { answer });
    await expect(reading).rejects.toMatchObject({ kind: 'rate_limited', message, retryAfterMs });
  });

  it('a search that is not understood is reported as such', async () => {
    const answer = { status: 422, body: { message: 'Validation Failed', errors: [{ message: 'x' }] } };
    await expect(read({ query: 'lamp', filters: issues }, { answer })).rejects.toMatchObject({
      kind: 'unexpected_status',
      message:
        'github answered 422: the search was not understood, or names what does not exist or is private; check the words and filters of the search',
    });
  });

  it.each([
    [withToken, 'github answered 401: the token was not accepted; check SOURCE_GITHUB_TOKEN'],
    [withoutToken, 'github answered 401: it wants a sign-in; set SOURCE_GITHUB_TOKEN'],
  ])('a refused sign-in is reported, with the setting', async (of, message) => {
    const answer = { status: 401, body: { message: 'Bad credentials' } };
    await expect(read({ query: 'lamp', filters: issues }, { of, answer })).rejects.toMatchObject({
      kind: 'unauthorized',
      message,
    });
  });

  it.each([
    ['RATE_LIMITED', 'rate_limited', 'github answered 200 (RATE_LIMITED): the points of an hour are used up'],
    [
      'FORBIDDEN',
      'forbidden',
      'github answered 200 (FORBIDDEN): the token may not read discussions; check SOURCE_GITHUB_TOKEN or leave them out of filters.kinds',
    ],
    ['<b>', 'unexpected_status', 'github answered 200: the search of discussions was not understood'],
  ])('the GraphQL fault %s, which comes with a 200, is "%s"', async (type, kind, message) => {
    const answer = { body: { data: null, errors: [{ type, message: 'x' }] } };
    const init = { query: 'lamp', filters: { kinds: 'discussion' } };
    await expect(read(init, { of: withToken, answer })).rejects.toMatchObject({ kind, message });
  });

  it.each([[{}], [{ data: {} }], [{ data: { search: { nodes: {} } } }], [discussions([{ id: 'x' }])]])(
    'a GraphQL answer of unknown shape is a fault: %j',
    async (body) => {
      const init = { query: 'lamp', filters: { kinds: 'discussion' } };
      await expect(read(init, { of: withToken, answer: { body } })).rejects.toMatchObject({
        kind: 'unknown_shape',
      });
    },
  );

  it('a GraphQL answer in part is a warning', async () => {
    const body = { ...discussions([discussion(1, SPEC_NOW)]), errors: [{ type: 'NOT_FOUND' }] };
    const { fetched } = await read(
      { query: 'lamp', filters: { kinds: 'discussion' } },
      { of: withToken, answer: { body } },
    );
    expect(fetched.items.length).toBe(1);
    expect(fetched.warnings).toEqual(['github: the search of discussions was answered in part']);
  });
});

describe('criteria on GitHub', () => {
  it.each([
    [{}, 'query', 'a search on github needs a query, terms, filters.repo, filters.org or filters.user'],
    [
      { query: 'lamp', filters: { repo: 'lamps' } },
      'filters.repo',
      'must be a repository such as "owner/name", or a list of them; "lamps" is not',
    ],
    [
      { query: 'lamp', filters: { org: 7 } },
      'filters.org',
      'must be the name of an organisation, or a list of them',
    ],
    [
      { query: 'lamp', filters: { user: 'a b' } },
      'filters.user',
      'must be the name of an account, or a list of them; "a b" is not',
    ],
    [{ query: 'lamp', filters: { language: ['C', 'D'] } }, 'filters.language', 'at most 1'],
    [
      { query: 'lamp', filters: { kinds: ['issue', 'commit'] } },
      'filters.kinds',
      'must be a list of issue, pull_request, discussion, repository; "commit" is not',
    ],
    [
      { query: 'lamp', filters: { kinds: ['discussion'] } },
      'filters.kinds',
      'discussions are searched only with SOURCE_GITHUB_TOKEN',
    ],
    [
      { query: 'lamp', filters: { repo: ['a/b', 'a/c', 'a/d'], user: ['x', 'y', 'z'] } },
      'filters',
      'at most 5 of repo, org and user together',
    ],
    [{ query: 'lamp '.repeat(60) }, 'query', 'github takes at most 256 characters'],
    [{ query: 'lamp', sort: 'stars' }, 'sort', 'github sorts by newest, not by "stars"'],
  ])('cannot be %j', (init, path, message) => {
    expect(withoutToken.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  it('can ask for discussions with a token', () => {
    const criteria = criteriaOf({ query: 'lamp', filters: { kinds: ['discussion'] } });
    expect(withToken.checkCriteria(criteria)).toEqual([]);
  });
});
