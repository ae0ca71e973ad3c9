import { SimulatorClient, type Answer } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const AGENT = { 'user-agent': 'Earshot/spec' };
const TOKEN = { ...AGENT, authorization: 'Bearer any' };

describe('the simulated GitHub', () => {
  type Found = { total_count: number; items: Record<string, unknown>[] };
  const publish = (title: string, more: object = {}) =>
    client.simulator.world.publish('github', {
      title,
      text: '',
      author: 'ada',
      community: 'acme/rocket',
      ...more,
    });
  const ask = (what: string, q: string, more = '') =>
    client.ask(
      `/search/${what}?sort=${what === 'issues' ? 'created' : 'updated'}&q=${encodeURIComponent(q)}${more}`,
      TOKEN,
    );
  const titles = (answer: Answer) => answer.json<Found>().items.map(({ title }) => title);
  const issues = async (q: string) => titles(await ask('issues', `is:issue ${q}`));

  it('reads AND, OR, NOT, quotes and parentheses of a search of issues', async () => {
    publish('a', { text: 'An acme rocket' });
    publish('b', { text: 'A rocket of acme' });
    publish('c kestrel', { author: 'grace' });
    expect(await issues('acme rocket')).toEqual(['b', 'a']);
    expect(await issues('"acme rocket"')).toEqual(['a']);
    expect(await issues('("acme rocket" OR kestrel)')).toEqual(['c kestrel', 'a']);
    expect(await issues('rocket AND acme NOT "acme rocket"')).toEqual(['b']);
    expect(await issues('rocket -an')).toEqual(['b']);
    expect(await issues('(acme OR kestrel) in:title')).toEqual(['c kestrel']);
    expect(await issues('author:Grace')).toEqual(['c kestrel']);
    // Without parentheses, an OR combines everything before and after it.
    expect(titles(await ask('issues', 'kestrel OR acme author:ada is:issue'))).toEqual([
      'c kestrel',
      'b',
      'a',
    ]);
  });

  it('separates issues from pull requests, and the repositories from each other', async () => {
    publish('one');
    const pull = publish('two', { kind: 'pull_request', community: 'northwind/sync' });
    publish('three', { kind: 'repository' });
    publish('four', { kind: 'discussion' });
    expect(await issues('')).toEqual(['one']);
    const pulls = await ask('issues', 'is:pull-request');
    expect(titles(pulls)).toEqual(['two']);
    expect(pulls.json<Found>().items[0]).toMatchObject({
      repository_url: 'https://api.github.com/repos/northwind/sync',
      pull_request: { html_url: `https://github.com/northwind/sync/pull/${pull.number % 1_000_000}` },
      draft: false,
    });
    expect(titles(await ask('issues', 'is:pr org:northwind'))).toEqual(['two']);
    expect(titles(await ask('issues', 'is:pr repo:acme/rocket'))).toEqual([]);
    expect(titles(await ask('issues', 'is:pr (repo:acme/rocket OR repo:northwind/sync)'))).toEqual(['two']);
    expect(titles(await ask('issues', 'is:pr -repo:nobody/nothing'))).toEqual(['two']);
    const refused = await ask('issues', 'is:pr repo:nobody/nothing');
    expect([refused.status, refused.json<{ errors: { message: string }[] }>().errors[0]?.message]).toEqual([
      422,
      'The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.',
    ]);
  });

  it('searches names, descriptions and topics of repositories', async () => {
    const description = 'A tool for acme #lighting';
    publish('Desk Lamp', { kind: 'repository', text: description, author: 'ada_b' });
    publish('Kettle', { kind: 'repository', text: 'Boils' });
    const names = async (q: string) =>
      (await ask('repositories', q)).json<Found>().items.map((item) => item['full_name']);
    expect(await names('lamp')).toEqual(['ada-b/desk-lamp']);
    expect(await names('lighting')).toEqual(['ada-b/desk-lamp']);
    expect(await names('"acme" OR kettle')).toEqual(['ada/kettle', 'ada-b/desk-lamp']);
    expect(await names('acme OR kettle created:>=2026-03-02')).toEqual([]);
    // A repository of any of the named accounts is found.
    expect(await names('user:ada user:ada-b')).toEqual(['ada/kettle', 'ada-b/desk-lamp']);
    const [lamp] = (await ask('repositories', 'lamp')).json<Found>().items;
    expect(lamp).toMatchObject({ description, topics: ['lighting'] });
    expect(await names(`lamp language:${String(lamp?.['language'])}`)).toEqual(['ada-b/desk-lamp']);
  });

  it('has issues, pull requests, discussions and repositories among the posts from before its start', async () => {
    await client.stop();
    client = await SimulatorClient.start({ historyPosts: 60 });
    const kinds = new Set(client.simulator.world.posts('github').map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['discussion', 'issue', 'pull_request', 'repository']);
  });

  it('finds issues by their creation time, and returns numbered pages up to the thousandth result', async () => {
    publish('one');
    client.clock.pass(60);
    publish('two');
    expect(await issues('created:>=2026-03-01T12:01:00Z')).toEqual(['two']);
    expect(await issues('created:>2026-03-01T12:01:00Z')).toEqual([]);
    expect(await issues('created:<2026-03-01T12:01:00Z')).toEqual(['one']);
    expect(await issues('created:2026-03-01')).toEqual(['two', 'one']);
    expect(await issues('created:2026-02-01..2026-02-28')).toEqual([]);
    const first = await ask('issues', 'is:issue', '&per_page=1');
    expect([titles(first), first.json<Found>().total_count]).toEqual([['two'], 2]);
    const next = 'https://api.github.com/search/issues?sort=created&q=is%3Aissue&per_page=1&page=2';
    expect(first.headers['link']).toBe(`<${next}>; rel="next", <${next}>; rel="last"`);
    expect(titles(await ask('issues', 'is:issue', '&per_page=1&page=2'))).toEqual(['one']);
    expect(titles(await ask('issues', 'is:issue', '&order=asc'))).toEqual(['one', 'two']);
    expect(titles(await ask('issues', 'is:issue', '&per_page=100&page=10'))).toEqual([]);
    const refused = await ask('issues', 'is:issue', '&per_page=100&page=11');
    expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
      422,
      'Only the first 1000 search results are available',
    ]);
  });

  it.each([
    ['', 'Validation Failed', { resource: 'Search', field: 'q', code: 'missing' }],
    ['acme', "Query must include 'is:issue' or 'is:pull-request'", undefined],
    [
      `is:issue ${'a'.repeat(257)}`,
      'Validation Failed',
      {
        message: 'The search is longer than 256 characters.',
        resource: 'Search',
        field: 'q',
        code: 'invalid',
      },
    ],
    [
      'is:issue a OR b OR c OR d OR e OR f OR g',
      'Validation Failed',
      {
        message: 'More than five AND / OR / NOT operators were used.',
        resource: 'Search',
        field: 'q',
        code: 'invalid',
      },
    ],
  ])('refuses the search "%s" with 422', async (q, message, error) => {
    const answer = await ask('issues', q);
    const body = answer.json<{ message: string; errors?: object[] }>();
    expect([answer.status, body.message, body.errors?.[0]]).toEqual([422, message, error]);
  });

  it('requires a User-Agent, refuses a wrong token, and limits the requests', async () => {
    const path = '/search/issues?q=is:issue';
    const nameless = await client.ask(path);
    expect([nameless.status, nameless.json<{ message: string }>().message]).toEqual([
      403,
      'Missing or invalid User Agent string. See http://developer.github.com/v3/#user-agent-required',
    ]);
    const wrong = await client.ask(path, { ...AGENT, authorization: 'Bearer wrong' });
    expect([wrong.status, wrong.json<{ message: string }>().message]).toEqual([401, 'Bad credentials']);
    const first = await client.ask(path, AGENT);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-used': '1',
      'x-ratelimit-reset': '1772366460',
      'x-ratelimit-resource': 'search',
    });
    for (let i = 0; i < 9; i++) await client.ask(path, AGENT);
    const refused = await client.ask(path, AGENT);
    expect([refused.status, refused.headers['x-ratelimit-remaining']]).toEqual([403, '0']);
    expect(refused.json<{ message: string }>().message).toMatch(/^API rate limit exceeded for /);
    expect((await client.ask(path, TOKEN)).headers['x-ratelimit-remaining']).toBe('29');
  });

  it('searches discussions by GraphQL, page by page', async () => {
    type Nodes = {
      data: { search: { pageInfo: { endCursor: string; hasNextPage: boolean }; nodes: object[] } };
    };
    publish('one', { kind: 'discussion', text: 'acme' });
    client.clock.pass(1);
    publish('two', { kind: 'discussion', text: 'acme' });
    publish('acme');
    const query = `query ($q: String!, $after: String) {
      search(type: DISCUSSION, query: $q, first: 1, after: $after) {
        pageInfo { endCursor hasNextPage }
        nodes { ... on Discussion { title author { login __typename } repository { nameWithOwner } } ... on Issue { id } }
      }
    }`;
    const page = async (after: string | null) =>
      (
        await client.post('/graphql', { query, variables: { q: 'acme sort:created-desc', after } }, TOKEN)
      ).json<Nodes>().data.search;
    const [author, repository] = [{ login: 'ada', __typename: 'User' }, { nameWithOwner: 'acme/rocket' }];
    const first = await page(null);
    expect(first).toEqual({
      pageInfo: { endCursor: 'Y3Vyc29yOjE=', hasNextPage: true },
      nodes: [{ title: 'two', author, repository }],
    });
    const second = await page(first.pageInfo.endCursor);
    expect([second.nodes, second.pageInfo.hasNextPage]).toEqual([
      [{ title: 'one', author, repository }],
      false,
    ]);
  });

  it('returns 200 with the error of a GraphQL query, and 401 without a token', async () => {
    publish('one', { kind: 'discussion' });
    const errorOf = async (query: string) => {
      const answer = await client.post('/graphql', { query }, TOKEN);
      expect(answer.status).toBe(200);
      return answer.json<{ errors: { message: string; type?: string }[] }>().errors[0];
    };
    const search = (more: string, fields: string) =>
      `{ search(type: DISCUSSION, query: ""${more}) { ${fields} } }`;
    const nodes = 'nodes { ... on Discussion { secret } }';
    expect((await errorOf(search(', first: 1', nodes)))?.message).toBe(
      "Field 'secret' doesn't exist on type 'Discussion'",
    );
    expect((await errorOf(search('', nodes)))?.type).toBe('MISSING_PAGINATION_BOUNDARIES');
    expect((await errorOf(search(', first: 101', nodes)))?.type).toBe('EXCESSIVE_PAGINATION');
    expect((await errorOf(search(', first: 1, after: "x"', nodes)))?.type).toBe('INVALID_CURSOR_ARGUMENTS');
    expect((await errorOf('{ search('))?.message).toBe('Unexpected end of document');
    const withoutToken = await client.post('/graphql', { query: search(', first: 1', nodes) }, AGENT);
    expect(withoutToken.status).toBe(401);
  });
});
