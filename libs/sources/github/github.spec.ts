import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import { createGithubConnector } from './index.js';
import { discussion, discussions, issue, nodeId, repository, serveIssues } from './testing/fixtures.js';
import { withToken, withoutToken, read, issues } from './testing/search.js';

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
const repositories = { kinds: ['repository'] };

describe('the request to GitHub', () => {
  it('asks separately for issues, pull requests and repositories, each with all terms, newest first', async () => {
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

  it('asks for entries from 10 minutes before the last read', async () => {
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

  it('also asks for discussions if there is a token', async () => {
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

  it('has at most six terms, because GitHub allows five operators', async () => {
    const terms = ['a1', 'b1', 'c1', 'd1', 'e1', 'f1', 'g1'];
    expect((await read({ terms, filters: issues })).asked).toEqual([
      '(a1 OR b1 OR c1 OR d1 OR e1 OR f1) is:issue in:title,body',
      'g1 is:issue in:title,body',
    ]);
  });

  it('has terms of at most 256 characters in total', async () => {
    const terms = Array.from({ length: 6 }, (_, n) => `a term of quite some length, for a term, number ${n}`);
    const words = (await read({ terms, filters: issues })).asked.map((q) =>
      q.replace(' is:issue in:title,body', ''),
    );
    expect(words.map((one) => one.replace(/^\(|\)$/g, '').length <= 256)).toEqual([true, true]);
    expect(words.join().match(/number \d/g)?.length).toBe(6);
  });

  it('contains all terms in brackets after the query, if GitHub allows brackets; otherwise each term has a request of its own', async () => {
    const init = { query: 'acme', terms: ['lamp', 'AND'] };
    expect((await read({ ...init, filters: issues })).asked).toEqual([
      'acme (lamp OR "AND") is:issue in:title,body',
    ]);
    expect((await read({ ...init, filters: repositories })).asked).toEqual([
      'acme lamp created:>=2026-02-02T11:50:00Z',
      'acme "AND" created:>=2026-02-02T11:50:00Z',
    ]);
  });

  it('contains each term exactly as the user wrote it, if the match mode is `platform`', async () => {
    const init = { terms: ['lamp NOT led', 'label:bug light'], filters: issues };
    expect((await read(init, { more: { match: 'platform' } })).asked).toEqual([
      'lamp NOT led is:issue',
      'label:bug light is:issue',
    ]);
  });

  it('is limited to the repositories, organisations and accounts of the filters', async () => {
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

  it('does not stop at a repository that an earlier read has found, because repositories are not sorted by creation', async () => {
    const pages = [
      Array.from({ length: 100 }, (_, n) => repository(n, SPEC_NOW)),
      [repository(200, SPEC_NOW)],
    ];
    const upstream = fakeUpstream('github', () => ({ body: { items: pages.shift() ?? [] } }));
    const context = fakeContext(upstream.http, { since, known: () => true });
    const fetched = await withoutToken.search(criteriaOf({ query: 'lamp', filters: repositories }), context);
    expect([fetched.items.length, fetched.gap, upstream.requests.length]).toEqual([101, false, 2]);
  });

  it('ends at the thousandth result, and reports that items can be missing (a gap)', async () => {
    const upstream = fakeUpstream('github', ({ at }) => {
      const page = Number(at.searchParams.get('page'));
      return { body: { items: Array.from({ length: 100 }, (_, n) => issue(page * 100 + n, SPEC_NOW)) } };
    });
    const context = fakeContext(upstream.http, { since, pageCap: 20 });
    const fetched = await withoutToken.search(criteriaOf({ query: 'lamp', filters: issues }), context);
    expect([fetched.items.length, fetched.gap, upstream.requests.length]).toEqual([1000, true, 10]);
  });

  it('reads the next page of discussions from the cursor', async () => {
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

  it('causes a warning if GitHub ran out of time for the search', async () => {
    const { fetched } = await read(
      { query: 'lamp', filters: issues },
      { answer: { body: { items: [issue(1, SPEC_NOW)], incomplete_results: true } } },
    );
    expect(fetched.items.length).toBe(1);
    expect(fetched.warnings).toEqual(['github: the search ran out of time; some results may be missing']);
  });
});

describe('criteria on GitHub', () => {
  it.each([
    [{}, 'query', 'a search on github needs a query, terms, filters.repo, filters.org or filters.user'],
    [
      { query: 'lamp', filters: { repo: 'lamps' } },
      'filters.repo',
      'must be a repository such as "owner/name", or a list of them; "lamps" is not valid',
    ],
    [
      { query: 'lamp', filters: { org: 7 } },
      'filters.org',
      'must be the name of an organisation, or a list of them',
    ],
    [
      { query: 'lamp', filters: { user: 'a b' } },
      'filters.user',
      'must be the name of an account, or a list of them; "a b" is not valid',
    ],
    [{ query: 'lamp', filters: { language: ['C', 'D'] } }, 'filters.language', 'must have at most 1 value'],
    [
      { query: 'lamp', filters: { kinds: ['issue', 'commit'] } },
      'filters.kinds',
      'must be a list of issue, pull_request, discussion, repository; "commit" is not valid',
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
