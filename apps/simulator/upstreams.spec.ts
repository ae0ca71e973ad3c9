import { SimulatorClient } from './simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

async function publish(source: string, text: string, more: object = {}): Promise<string> {
  const answer = await client.post('/_sim/posts', { source, text, title: 'Untitled', ...more });
  expect(answer.status).toBe(201);
  return answer.json<{ externalId: string }>().externalId;
}

describe('hackernews', () => {
  type Found = {
    hits: { objectID: string; story_text?: string; comment_text?: string }[];
    nbHits: number;
    nbPages: number;
  };
  const search = async (query: string) => (await client.ask(`/api/v1/search_by_date?${query}`)).json<Found>();
  const idsOf = ({ hits }: Found) => hits.map(({ objectID }) => objectID);

  it('finds words and phrases, forgives typos and reads the last word as a beginning, unless told not to', async () => {
    const acme = await publish('hackernews', 'An acme rocket');
    const typo = await publish('hackernews', 'An akne rocket');
    const longer = await publish('hackernews', 'On acmeology');
    expect(idsOf(await search('query=acme'))).toEqual([longer, acme]);
    expect(idsOf(await search('query=acme&queryType=prefixNone'))).toEqual([acme]);
    expect(idsOf(await search('query=rocket+acmee'))).toEqual([acme]);
    expect(idsOf(await search('query=rokcet'))).toEqual([typo, acme]);
    expect(idsOf(await search('query=rokcet&typoTolerance=false'))).toEqual([]);
    expect(idsOf(await search('query=%22acme+rocket%22'))).toEqual([acme]);
    expect(idsOf(await search('query=%22rocket+acme%22'))).toEqual([]);
    expect(idsOf(await search('query=rocket+-akne'))).toEqual([acme]);
  });

  it('filters by tags and numbers, and pages', async () => {
    const story = await publish('hackernews', 'first');
    client.clock.pass(10);
    const comment = await publish('hackernews', 'second', { kind: 'comment', author: 'ada' });
    expect(idsOf(await search('tags=comment'))).toEqual([comment]);
    expect(idsOf(await search('tags=(story,comment)'))).toEqual([comment, story]);
    expect(idsOf(await search('tags=comment,author_ada'))).toEqual([comment]);
    expect(idsOf(await search('tags=story,author_ada'))).toEqual([]);
    const since = Math.floor(client.clock.now().getTime() / 1000) - 5;
    expect(idsOf(await search(`numericFilters=created_at_i%3E${since}`))).toEqual([comment]);
    const page = await search('hitsPerPage=1&page=1');
    expect([idsOf(page), page.nbHits, page.nbPages]).toEqual([[story], 2, 2]);
    expect((await client.ask('/api/v1/search?numericFilters=created_at_i~3')).status).toBe(400);
    expect((await client.ask('/api/v1/items/1')).status).toBe(404);
  });

  it('writes text as HTML', async () => {
    await publish('hackernews', `It's "A & B" at https://a.example/x\n\nsecond`);
    const { hits } = await search('');
    const link =
      '<a href="https:&#x2F;&#x2F;a.example&#x2F;x" rel="nofollow">https:&#x2F;&#x2F;a.example&#x2F;x</a>';
    expect(hits[0]!.story_text).toBe(`It&#x27;s &quot;A &amp; B&quot; at ${link}<p>second`);
  });
});

describe('reddit', () => {
  type Found = {
    data: {
      children: { data: { name: string; selftext: string } }[];
      after: string | null;
      before: string | null;
    };
  };
  const namesOf = (found: Found) => found.data.children.map(({ data }) => data.name);
  const ask = async (path: string) => (await client.ask(path, await client.reddit())).json<Found>();

  it('wants a token that has not expired', async () => {
    expect((await client.ask('/r/all/new')).json()).toEqual({ message: 'Unauthorized', error: 401 });
    const bearer = await client.reddit();
    const answer = await client.ask('/r/all/new', bearer);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'x-ratelimit-used': '1',
      'x-ratelimit-remaining': '999.0',
      'x-ratelimit-reset': '600',
    });
    client.clock.pass(86_401);
    expect((await client.ask('/r/all/new', bearer)).status).toBe(401);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(
      (await client.send('POST', '/api/v1/access_token', 'grant_type=client_credentials', form)).status,
    ).toBe(401);
  });

  it('searches posts by words, phrases and OR, in all communities or one', async () => {
    const one = await publish('reddit', 'the acme rocket', { community: 'gadgets' });
    const two = await publish('reddit', 'a kestrel', { community: 'webdev' });
    await publish('reddit', 'acme in a comment', { kind: 'comment' });
    expect(namesOf(await ask('/search?q=acme&sort=new'))).toEqual([one]);
    expect(
      namesOf(await ask(`/search?q=${encodeURIComponent('("acme rocket" OR kestrel)')}&sort=new`)),
    ).toEqual([two, one]);
    expect(namesOf(await ask(`/search?q=${encodeURIComponent('acme OR kestrel -rocket')}&sort=new`))).toEqual(
      [two, one],
    );
    expect(namesOf(await ask('/search?q=%22rocket+acme%22'))).toEqual([]);
    expect(namesOf(await ask('/r/webdev/search?q=acme+OR+kestrel&restrict_sr=1'))).toEqual([two]);
    expect(namesOf(await ask('/search?q=title:untitled+AND+subreddit:gadgets'))).toEqual([one]);
  });

  it('lists newest posts and comments page by page', async () => {
    const posts: string[] = [];
    for (let i = 0; i < 5; i++) posts.unshift(await publish('reddit', `post ${i}`, { community: 'one' }));
    const first = await ask('/r/one+two/new.json?limit=2');
    expect([namesOf(first), first.data.after, first.data.before]).toEqual([
      posts.slice(0, 2),
      posts[1],
      null,
    ]);
    const second = await ask(`/r/one+two/new?limit=2&after=${posts[1]}&count=2`);
    expect([namesOf(second), second.data.before]).toEqual([posts.slice(2, 4), posts[2]]);
    const last = await ask(`/r/one/new?limit=2&after=${posts[3]}`);
    expect([namesOf(last), last.data.after]).toEqual([[posts[4]], null]);
    const comment = await publish('reddit', 'reply', { kind: 'comment', community: 'one' });
    expect(namesOf(await ask('/r/one/comments'))).toEqual([comment]);
    expect(namesOf(await ask(`/api/info?id=${posts[0]},${comment}`))).toEqual([posts[0], comment]);
  });

  it('escapes strings unless raw_json is asked for', async () => {
    await publish('reddit', 'a & b < c');
    expect((await ask('/r/all/new')).data.children[0]!.data.selftext).toBe('a &amp; b &lt; c');
    expect((await ask('/r/all/new?raw_json=1')).data.children[0]!.data.selftext).toBe('a & b < c');
  });
});

describe('bluesky', () => {
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

  it('ANDs words and phrases, and filters by time on the earlier of both clocks', async () => {
    const one = await publish('bluesky', 'acme makes a rocket');
    client.clock.pass(60);
    const two = await publish('bluesky', 'the acme rocket #acme', { lang: 'en' });
    expect(urisOf(await search('q=acme+rocket'))).toEqual([two, one]);
    expect(urisOf(await search('q=%22acme+rocket%22'))).toEqual([two]);
    expect(urisOf(await search('q=acme+OR+kestrel'))).toEqual([]);
    expect(urisOf(await search('q=acme&lang=en'))).toEqual([two]);
    expect(urisOf(await search('q=acme&tag=acme'))).toEqual([two]);
    const at = client.clock.now().toISOString();
    expect(urisOf(await search(`q=acme&since=${at}`))).toEqual([two]);
    expect(urisOf(await search(`q=acme&until=${at}`))).toEqual([one]);
  });

  it('pages by offset, and refuses more than 100', async () => {
    for (let i = 0; i < 3; i++) await publish('bluesky', `acme ${i}`);
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

  it('counts facets in bytes', async () => {
    await publish('bluesky', '🚀 größer #acme https://a.example');
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

describe('feeds', () => {
  it('answer 304 while nothing is new, by tag or by date', async () => {
    await publish('rss', 'first', { community: 'mine' });
    const read = await client.ask('/feeds/mine.rss');
    const etag = String(read.headers.etag);
    const date = String(read.headers['last-modified']);
    expect((await client.ask('/feeds/mine.rss', { 'if-none-match': etag })).status).toBe(304);
    expect((await client.ask('/feeds/mine.rss', { 'if-modified-since': date })).status).toBe(304);
    client.clock.pass(5);
    await publish('rss', 'second', { community: 'mine' });
    const changed = await client.ask('/feeds/mine.rss', { 'if-none-match': etag, 'if-modified-since': date });
    expect(changed.status).toBe(200);
    expect(changed.text).toContain('<ttl>1</ttl>');
    expect((await client.ask('/feeds/nobody.rss')).status).toBe(404);
  });
});
