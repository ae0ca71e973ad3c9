import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated Reddit', () => {
  type Found = {
    data: {
      children: { data: { name: string; selftext: string } }[];
      after: string | null;
      before: string | null;
    };
  };
  const namesOf = (found: Found) => found.data.children.map(({ data }) => data.name);
  const ask = async (path: string) => (await client.ask(path, await client.reddit())).json<Found>();

  it('requires a token that has not expired', async () => {
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

  it('searches posts by words, phrases and OR, in all communities or in one community', async () => {
    const one = await client.publish('reddit', 'the acme rocket', { community: 'gadgets' });
    const two = await client.publish('reddit', 'a kestrel', { community: 'webdev' });
    await client.publish('reddit', 'acme in a comment', { kind: 'comment' });
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

  it('lists the newest posts page by page, the newest comments, and posts and comments by their names', async () => {
    const posts: string[] = [];
    for (let i = 0; i < 5; i++)
      posts.unshift(await client.publish('reddit', `post ${i}`, { community: 'one' }));
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
    const comment = await client.publish('reddit', 'reply', { kind: 'comment', community: 'one' });
    expect(namesOf(await ask('/r/one/comments'))).toEqual([comment]);
    expect(namesOf(await ask(`/api/info?id=${posts[0]},${comment}`))).toEqual([posts[0], comment]);
  });

  it('escapes strings unless the request sets raw_json', async () => {
    await client.publish('reddit', 'a & b < c');
    expect((await ask('/r/all/new')).data.children[0]!.data.selftext).toBe('a &amp; b &lt; c');
    expect((await ask('/r/all/new?raw_json=1')).data.children[0]!.data.selftext).toBe('a & b < c');
  });
});
