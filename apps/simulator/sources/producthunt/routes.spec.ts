import { SimulatorClient, type Answer } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const TOKEN = { authorization: 'Bearer any' };

describe('the simulated Product Hunt', () => {
  type Posts = {
    pageInfo: { endCursor: string | null; hasNextPage: boolean };
    edges: { node: Record<string, unknown> }[];
  };
  const publish = (title: string, more: object = {}) =>
    client.simulator.world.publish('producthunt', { title, text: 'Light', author: 'ada', ...more });
  const ask = (args: string, fields = 'name', headers: Record<string, string> = TOKEN) => {
    const query = `query { posts(${args}) { pageInfo { endCursor hasNextPage } edges { node { ${fields} } } } }`;
    return client.post('/v2/api/graphql', { query }, headers);
  };
  const postsOf = (answer: Answer) => answer.json<{ data: { posts: Posts } }>().data.posts;
  const names = async (args: string) => postsOf(await ask(args)).edges.map(({ node }) => node['name']);

  it('returns the newest posts, or only those after a time, before a time or of a topic', async () => {
    publish('one', { community: 'lighting' });
    client.clock.pass(60);
    publish('two');
    expect(await names('order: NEWEST')).toEqual(['two', 'one']);
    expect(await names('order: NEWEST, postedAfter: "2026-03-01T12:00:00Z"')).toEqual(['two']);
    expect(await names('order: NEWEST, postedBefore: "2026-03-01T12:01:00Z"')).toEqual(['one']);
    expect(await names('order: NEWEST, topic: "lighting"')).toEqual(['one']);
    expect(await names('order: NEWEST, topic: null')).toEqual(['two', 'one']);
  });

  it('returns pages by a cursor that is an offset, with at most twenty posts per page', async () => {
    const titles = Array.from({ length: 22 }, (_, i) => `Lamp ${i}`);
    titles.forEach((title) => publish(title));
    const first = postsOf(await ask('order: NEWEST, first: 50'));
    expect([first.edges.length, first.pageInfo]).toEqual([20, { endCursor: 'MjA', hasNextPage: true }]);
    const second = postsOf(await ask('order: NEWEST, first: 50, after: "MjA"'));
    expect(second.edges.map(({ node }) => node['name'])).toEqual(['Lamp 1', 'Lamp 0']);
    expect(second.pageInfo).toEqual({ endCursor: 'MjI', hasNextPage: false });
  });

  it('returns the requested fields, and redacted users', async () => {
    const text = `${'A lamp that is seen from very far away, '.repeat(3)}\n\nwith a switch`;
    const { id } = publish('A Lamp!', { text, community: 'lighting' });
    const fields =
      'id slug tagline description createdAt user { id name username url } topics(first: 10) { edges { node { slug } } }';
    const [edge] = postsOf(await ask('order: NEWEST', fields)).edges;
    expect(edge?.node).toMatchObject({
      id,
      slug: `a-lamp-${Number(id) % 1000}`,
      tagline: 'A lamp that is seen from very far away, A lamp that is seen',
      description: text,
      createdAt: '2026-03-01T12:00:00Z',
      user: { id: '0', name: '[REDACTED]', username: '[REDACTED]', url: '[REDACTED]' },
    });
    const asked = ['id', 'slug', 'tagline', 'description', 'createdAt', 'user', 'topics'];
    expect(Object.keys(edge?.node ?? {})).toEqual(asked);
    const one = await client.post('/v2/api/graphql', { query: `{ post(id: "${id}") { name } }` }, TOKEN);
    expect(one.json()).toEqual({ data: { post: { name: 'A Lamp!' } } });
    const wrong = await ask('order: NEWEST', 'secret');
    expect([wrong.status, wrong.json<{ errors: object[] }>().errors[0]]).toEqual([
      200,
      {
        message: "Field 'secret' doesn't exist on type 'Post'",
        extensions: { code: 'undefinedField', typeName: 'Post', fieldName: 'secret' },
      },
    ]);
  });

  it('requires a token, which an application gets with its secret', async () => {
    const refused = await ask('order: NEWEST', 'name', { authorization: 'Bearer wrong' });
    expect([refused.status, refused.json<{ errors: { error: string }[] }>().errors[0]?.error]).toEqual([
      401,
      'invalid_oauth_token',
    ]);
    expect((await ask('order: NEWEST', 'name', {})).status).toBe(401);
    const signIn = (more: object) =>
      client.post('/v2/oauth/token', {
        client_id: 'a',
        client_secret: 'b',
        grant_type: 'client_credentials',
        ...more,
      });
    const granted = (await signIn({})).json<Record<string, string>>();
    expect(Object.keys(granted)).toEqual(['access_token', 'token_type', 'scope', 'created_at']);
    const authorization = `Bearer ${granted['access_token']}`;
    expect((await ask('order: NEWEST', 'name', { authorization })).status).toBe(200);
    const wrong = await signIn({ client_secret: 'wrong' });
    expect([wrong.status, wrong.json<{ error: string }>().error]).toEqual([401, 'invalid_client']);
    const grant = await signIn({ grant_type: 'password' });
    expect([grant.status, grant.json<{ error: string }>().error]).toEqual([400, 'invalid_grant']);
  });

  it('counts points, and reports the seconds until the points are reset', async () => {
    await client.stop();
    client = await SimulatorClient.start({ limits: { producthunt: 30 } });
    const first = await ask('order: NEWEST, first: 20');
    expect(first.headers).toMatchObject({
      'x-rate-limit-limit': '30',
      'x-rate-limit-remaining': '9',
      'x-rate-limit-reset': '900',
    });
    client.clock.pass(100);
    const refused = await ask('order: NEWEST, first: 20');
    expect([refused.status, refused.json<{ errors: object[] }>().errors[0]]).toMatchObject([
      429,
      { error: 'rate_limit_reached', details: { limit: 30, remaining: -12, reset_in: 800 } },
    ]);
    client.clock.pass(800);
    expect((await ask('order: NEWEST')).status).toBe(200);
  });
});
