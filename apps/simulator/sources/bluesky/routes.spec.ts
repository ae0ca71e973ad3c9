import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated Bluesky', () => {
  type Found = {
    posts: { uri: string; record: { text: string; facets?: object[]; langs?: string[] } }[];
    cursor?: string;
  };
  const search = async (query: string) => {
    return client.ask(`/xrpc/app.bsky.feed.searchPosts?${query}`, await client.bluesky());
  };
  const urisOf = (answer: { json<T>(): T }) => answer.json<Found>().posts.map(({ uri }) => uri);

  it('opens and renews sessions, and refuses old tokens', async () => {
    const bearer = await client.bluesky();
    client.clock.pass(7_201);
    const answer = await client.ask('/xrpc/app.bsky.feed.searchPosts?q=a', bearer);
    expect([answer.status, answer.json<{ error: string }>().error]).toEqual([400, 'ExpiredToken']);
    const opened = await client.post('/xrpc/com.atproto.server.createSession', {
      identifier: 'a.example',
      password: 'b',
    });
    const { refreshJwt } = opened.json<{ refreshJwt: string }>();
    const path = '/xrpc/com.atproto.server.refreshSession';
    const renewed = await client.send('POST', path, undefined, { authorization: `Bearer ${refreshJwt}` });
    expect(renewed.json<{ handle: string }>().handle).toBe('a.example');
    const wrong = await client.post('/xrpc/com.atproto.server.createSession', {
      identifier: 'a.example',
      password: 'wrong',
    });
    expect([wrong.status, wrong.json<{ error: string }>().error]).toEqual([401, 'AuthenticationRequired']);
  });

  it('finds posts with all words and phrases of the query, and filters by language, tag and time', async () => {
    const one = await client.publish('bluesky', 'acme makes a rocket');
    client.clock.pass(60);
    const two = await client.publish('bluesky', 'the acme rocket #acme', { lang: 'en' });
    expect(urisOf(await search('q=acme+rocket'))).toEqual([two, one]);
    expect(urisOf(await search('q=%22acme+rocket%22'))).toEqual([two]);
    expect(urisOf(await search('q=acme+OR+kestrel'))).toEqual([]);
    expect(urisOf(await search('q=acme&lang=en'))).toEqual([two]);
    expect(urisOf(await search('q=acme&tag=acme'))).toEqual([two]);
    const at = client.clock.now().toISOString();
    expect(urisOf(await search(`q=acme&since=${at}`))).toEqual([two]);
    expect(urisOf(await search(`q=acme&until=${at}`))).toEqual([one]);
  });

  it('returns pages by offset, and refuses parameters that are missing or not valid', async () => {
    for (let i = 0; i < 3; i++) await client.publish('bluesky', `acme ${i}`);
    const first = await search('q=acme&limit=2');
    expect(first.json<Found>().cursor).toBe('2');
    const last = await search('q=acme&limit=2&cursor=2');
    expect([urisOf(last).length, last.json<Found>().cursor]).toEqual([1, undefined]);
    expect(first.headers).toMatchObject({
      'ratelimit-limit': '3000',
      'ratelimit-remaining': '2999',
      'ratelimit-policy': '3000;w=300',
    });
    for (const query of ['q=a&limit=101', 'q=a&limit=0', 'limit=5', 'q=a&since=yesterday']) {
      const refused = await search(query);
      expect([refused.status, refused.json<{ error: string }>().error]).toEqual([400, 'InvalidRequest']);
    }
  });

  it('counts the positions of facets in bytes of UTF-8', async () => {
    await client.publish('bluesky', '🚀 größer #acme https://a.example');
    const { record } = (await search('q=acme')).json<Found>().posts[0]!;
    expect(record.facets).toEqual([
      {
        features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'acme' }],
        index: { byteStart: 14, byteEnd: 19 },
      },
      {
        features: [{ $type: 'app.bsky.richtext.facet#link', uri: 'https://a.example' }],
        index: { byteStart: 20, byteEnd: 37 },
      },
    ]);
  });
});
