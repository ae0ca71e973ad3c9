import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated Lemmy', () => {
  type Found = Record<string, Record<string, Record<string, unknown>>[]> & { next_page?: string };
  const publish = (title: string, more: object = {}) =>
    Number(client.simulator.world.publish('lemmy', { title, text: '', author: 'ada', ...more }).id);
  const ask = (path: string) => client.ask(`/api/v3/${path}`);
  const search = async (q: string, more = '') =>
    (await ask(`search?sort=New&q=${encodeURIComponent(q)}${more}`)).json<Found>();
  const ids = (found: Found, what: string) => found[`${what}s`]?.map((view) => view[what]?.['id']);

  it('finds parts of words in the order of the query, in titles, texts and comments; OR is an ordinary word', async () => {
    const one = publish('The acmeology of rockets');
    const two = publish('Untitled', { text: 'A rocket\nby ACME' });
    const comment = publish('', { kind: 'comment', text: 'acme rocket' });
    const found = await search('acme rocket');
    expect([ids(found, 'post'), ids(found, 'comment')]).toEqual([[one], [comment]]);
    expect(ids(await search('rocket acme'), 'post')).toEqual([two]);
    expect(ids(await search('acme OR kestrel'), 'post')).toEqual([]);
    expect(ids(await search('100%'), 'post')).toEqual([]);
    expect(ids(await search('acme', '&type_=Comments'), 'post')).toEqual([]);
    expect(ids(await search('acme', '&post_title_only=true'), 'post')).toEqual([one]);
  });

  it('finds communities and people by name', async () => {
    publish('acme', { author: 'selfmade@feddit.example', community: 'selfhosted' });
    const found = await search('self');
    expect(found['communities']?.map(({ community }) => community?.['actor_id'])).toEqual([
      'https://lemmy.example/c/selfhosted',
    ]);
    expect(found['users']?.map(({ person }) => person?.['actor_id'])).toEqual([
      'https://feddit.example/u/selfmade',
    ]);
  });

  it('returns separate pages of posts and comments, with ten entries by default, and refuses invalid parameters', async () => {
    const posts = Array.from({ length: 12 }, (_, i) =>
      publish(`acme ${i}`, { community: 'webdev' }),
    ).reverse();
    const comment = publish('', { kind: 'comment', text: 'acme', community: 'webdev' });
    const [first, second] = [await search('acme'), await search('acme', '&page=2')];
    expect([ids(first, 'post'), ids(first, 'comment')]).toEqual([posts.slice(0, 10), [comment]]);
    expect([ids(second, 'post'), ids(second, 'comment')]).toEqual([posts.slice(10), []]);
    for (const [path, body] of [
      ['search?q=a&limit=51', { error: 'unknown', message: 'Fetch limit is > 50' }],
      ['search?q=a&page=0', { error: 'unknown', message: 'Page is < 1' }],
      ['search', { error: 'unknown', message: 'Query deserialize error: missing field `q`' }],
      ['post/list?limit=51', { error: 'couldnt_get_posts' }],
      ['comment/list?limit=0', { error: 'couldnt_get_comments' }],
      ['post/list?page_cursor=nothing', { error: 'couldnt_parse_pagination_token' }],
    ] as const) {
      const refused = await ask(path);
      expect([refused.status, refused.json()]).toEqual([400, body]);
    }
  });

  it('lists the newest posts of all communities or of one community, in pages with a cursor, and the newest comments', async () => {
    const one = publish('first', { community: 'webdev' });
    const two = publish('second', { community: 'gadgets' });
    const comment = publish('', { kind: 'comment', text: 'third', community: 'gadgets' });
    const first = (await ask('post/list?sort=New&limit=1')).json<Found>();
    expect([ids(first, 'post'), first.next_page]).toEqual([[two], `P${two.toString(16)}`]);
    const second = (await ask(`post/list?sort=New&limit=1&page_cursor=${first.next_page}`)).json<Found>();
    expect(ids(second, 'post')).toEqual([one]);
    const last = (await ask(`post/list?sort=New&page_cursor=${second.next_page}`)).json<Found>();
    expect(last).toEqual({ posts: [] });
    expect(ids((await ask('comment/list?sort=New')).json<Found>(), 'comment')).toEqual([comment]);
    const at = async (name: string) =>
      ids((await ask(`post/list?sort=New&community_name=${name}`)).json<Found>(), 'post');
    expect(await at('webdev')).toEqual([one]);
    expect(await at('webdev@lemmy.example')).toEqual([one]);
    // An unknown community is ignored.
    expect(await at('nobody')).toEqual([two, one]);
  });

  it('shows a comment with its post, its path and the server of its author', async () => {
    const { world } = client.simulator;
    const post = publish('first', { community: 'webdev', author: 'grace@feddit.example' });
    const above = publish('', { kind: 'comment', text: 'second', community: 'webdev' });
    const comment = publish('', {
      kind: 'comment',
      text: 'third',
      community: 'webdev',
      author: 'grace@feddit.example',
    });
    const parent = world.find('lemmy', String(comment))?.parent?.id;
    const [view] = (await ask('comment/list?sort=New')).json<Found>()['comments'] ?? [];
    expect(view).toMatchObject({
      comment: {
        ap_id: `https://feddit.example/comment/${comment}`,
        local: false,
        post_id: post,
        path: parent === String(post) ? `0.${comment}` : `0.${above}.${comment}`,
        published: '2026-03-01T12:00:00.000000Z',
      },
      post: { name: 'first', ap_id: `https://feddit.example/post/${post}` },
      creator: { name: 'grace', actor_id: 'https://feddit.example/u/grace' },
    });
  });

  it('returns its version, and has no routes of API v4', async () => {
    const site = (await ask('site')).json<{ version: string; all_languages: object[] }>();
    expect(site.version).toBe('0.19.20');
    expect(site.all_languages).toContainEqual({ id: 37, code: 'en', name: 'English' });
    expect((await client.ask('/api/v4/search?q=a')).status).toBe(404);
  });

  it('refuses the sixty-first search in ten minutes with 400, without `Retry-After`', async () => {
    publish('acme');
    for (let i = 0; i < 60; i++) expect((await ask('search?q=acme')).status).toBe(200);
    const refused = await ask('search?q=acme');
    expect([refused.status, refused.json(), refused.headers['retry-after']]).toEqual([
      400,
      { error: 'rate_limit_error' },
      undefined,
    ]);
    expect((await ask('post/list')).status).toBe(200);
    client.clock.pass(600);
    expect((await ask('search?q=acme')).status).toBe(200);
  });
});
