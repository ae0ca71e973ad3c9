import { SimulatorClient, type Answer } from './simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

const BEARER = { authorization: 'Bearer any' };

describe('mastodon', () => {
  type Status = Record<string, unknown> & { id: string; content: string };
  const publish = (text: string, more: object = {}) =>
    client.simulator.world.publish('mastodon', { text, author: 'ada', ...more }).id;
  const search = (q: string, more = '') =>
    client.ask(`/api/v2/search?type=statuses&q=${encodeURIComponent(q)}${more}`, BEARER);
  const found = (answer: Answer) => answer.json<{ statuses: Status[] }>().statuses.map(({ id }) => id);
  const shown = (answer: Answer) => answer.json<Status[]>().map(({ id }) => id);

  it('finds words by their stems, phrases as they are, and what operators say: all of it, and no OR', async () => {
    const one = publish('The acme rocket', { lang: 'en' });
    client.clock.pass(86_400);
    const two = publish('Rockets of Acme, see https://acme.example/a', { author: 'grace@kind.example' });
    expect(found(await search('rocket acme'))).toEqual([two, one]);
    expect(found(await search('"acme rocket"'))).toEqual([one]);
    expect(found(await search('"rocket"'))).toEqual([one]);
    expect(found(await search('acme -see'))).toEqual([one]);
    expect(found(await search('acme OR kestrel'))).toEqual([]);
    expect(found(await search('acme from:@grace@kind.example'))).toEqual([two]);
    expect(found(await search('acme has:link'))).toEqual([two]);
    expect(found(await search('acme language:en'))).toEqual([one]);
    expect(found(await search('acme before:2026-03-02'))).toEqual([one]);
    expect(found(await search('acme after:2026-03-01'))).toEqual([two]);
    expect(found(await search('acme during:2026-03-01'))).toEqual([one]);
    expect(found(await search('acme in:library'))).toEqual([]);
  });

  it('finds nobody who did not agree to be found, and nothing for strangers', async () => {
    const hidden = publish('An acme rocket #acme', { author: 'hidden_ada' });
    publish('An acme rocket');
    expect(found(await search('acme'))).not.toContain(hidden);
    expect(shown(await client.ask('/api/v1/timelines/tag/acme'))).toEqual([hidden]);
    const stranger = await client.ask('/api/v2/search?type=statuses&q=acme');
    expect(stranger.json()).toEqual({ accounts: [], statuses: [], hashtags: [], collections: [] });
  });

  it('pages a search by offset, twenty at once and never more than forty', async () => {
    for (let i = 0; i < 45; i++) publish(`acme ${i}`);
    expect(found(await search('acme'))).toHaveLength(20);
    expect(found(await search('acme', '&limit=400'))).toHaveLength(40);
    expect(found(await search('acme', '&limit=40&offset=40'))).toHaveLength(5);
    expect(found(await search('acme', '&limit=40&offset=80'))).toEqual([]);
  });

  it('shows a hashtag to everybody, with any and all of others', async () => {
    const one = publish('#Acme and #Rocket');
    const two = publish('#rocket alone');
    const three = publish('#kestrel');
    const tag = (path: string) => client.ask(`/api/v1/timelines/tag/${path}`);
    expect(shown(await tag('ACME'))).toEqual([one]);
    expect(shown(await tag('acme?any[]=kestrel&any[]=rocket'))).toEqual([three, two, one]);
    expect(shown(await tag('rocket?all[]=acme'))).toEqual([one]);
    expect(shown(await tag('rocket?none[]=acme'))).toEqual([two]);
    // The tag in the path is one of four.
    expect(shown(await tag('acme?any[]=a&any[]=b&any[]=c&any[]=kestrel'))).toEqual([one]);
    expect(shown(await tag('nobody?any[]=kestrel'))).toEqual([]);
  });

  it('pages timelines by ids, which the Link header names', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift(publish(`post ${i}`));
      client.clock.pass(1);
    }
    const ask = (query: string) => client.ask(`/api/v1/timelines/public?${query}`, BEARER);
    const first = await ask('limit=2');
    expect(shown(first)).toEqual(ids.slice(0, 2));
    const path = `${client.simulator.url}/api/v1/timelines/public`;
    expect(first.headers['link']).toBe(
      `<${path}?limit=2&max_id=${ids[1]}>; rel="next", <${path}?limit=2&min_id=${ids[0]}>; rel="prev"`,
    );
    expect(shown(await ask(`limit=2&max_id=${ids[1]}`))).toEqual(ids.slice(2, 4));
    expect(shown(await ask(`limit=2&since_id=${ids[4]}`))).toEqual(ids.slice(0, 2));
    expect(shown(await ask(`limit=2&min_id=${ids[4]}`))).toEqual(ids.slice(2, 4));
    const last = await ask(`max_id=${ids[4]}`);
    expect([last.text, last.headers['link']]).toEqual(['[]', undefined]);
  });

  it('tells local accounts from those of elsewhere', async () => {
    const here = publish('one', { author: 'ada@social.example' });
    const away = publish('two', { author: 'grace@kind.example' });
    const ask = (query: string) => client.ask(`/api/v1/timelines/public?${query}`, BEARER);
    expect(shown(await ask('local=true'))).toEqual([here]);
    expect(shown(await ask('remote=true'))).toEqual([away]);
    const accounts = (await ask('local=false')).json<{ account: { acct: string }; uri: string }[]>();
    expect(accounts.map(({ account, uri }) => [account.acct, uri])).toEqual([
      ['grace@kind.example', `https://kind.example/users/grace/statuses/${away}`],
      ['ada', `https://social.example/users/ada/statuses/${here}`],
    ]);
  });

  it('writes HTML in which nothing of an address is lost', async () => {
    const link = 'https://www.acme.example/a/very/long/path?x=1&y=2';
    publish(`"A" & #Größe\nby @grace@kind.example\n\n${link}`, { author: 'ada@social.example' });
    const [status] = (await client.ask('/api/v1/timelines/public', BEARER)).json<Status[]>();
    expect(status?.content).toBe(
      '<p>&quot;A&quot; &amp; <a href="https://social.example/tags/Gr%C3%B6%C3%9Fe" class="mention hashtag" rel="tag">#<span>Größe</span></a><br>' +
        'by <span class="h-card" translate="no"><a href="https://kind.example/@grace" class="u-url mention">@<span>grace</span></a></span></p>' +
        '<p><a href="https://www.acme.example/a/very/long/path?x=1&amp;y=2" rel="nofollow noopener" translate="no" target="_blank">' +
        '<span class="invisible">https://www.</span><span class="ellipsis">acme.example/a/very/long/path?</span><span class="invisible">x=1&amp;y=2</span></a></p>',
    );
    expect(status).toMatchObject({
      tags: [{ name: 'größe', url: 'https://social.example/tags/gr%C3%B6%C3%9Fe' }],
      mentions: [{ acct: 'grace@kind.example' }],
      card: { url: link },
    });
  });

  it('refuses strangers, wrong tokens and questions without a query', async () => {
    const refused: [string, Record<string, string>, number, string][] = [
      ['/api/v1/timelines/public', {}, 422, 'This method requires an authenticated user'],
      ['/api/v1/timelines/tag/a', { authorization: 'Bearer wrong' }, 401, 'The access token is invalid'],
      ['/api/v2/search', BEARER, 400, 'param is missing or the value is empty or invalid: q'],
      [
        '/api/v2/search?q=a&offset=20',
        {},
        401,
        'Search queries pagination is not supported without authentication',
      ],
      [
        '/api/v2/search?q=a&resolve=1',
        {},
        401,
        'Search queries that resolve remote resources are not supported without authentication',
      ],
      ['/api/v1/statuses/0', BEARER, 404, 'Not Found'],
    ];
    for (const [path, headers, status, error] of refused) {
      const answer = await client.ask(path, headers);
      expect([answer.status, answer.json()]).toEqual([status, { error }]);
    }
  });

  it('tells what is left of five minutes, and refuses when it is used up', async () => {
    await client.stop();
    client = await SimulatorClient.start({ limits: { mastodon: 2 } });
    const first = await client.ask('/api/v1/timelines/tag/a');
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '2026-03-01T12:05:00.000000Z',
    });
    await client.ask('/api/v1/timelines/tag/a');
    const refused = await client.ask('/api/v1/timelines/tag/a');
    expect([refused.status, refused.json()]).toEqual([429, { error: 'Too many requests' }]);
    client.clock.pass(300);
    expect((await client.ask('/api/v1/timelines/tag/a')).status).toBe(200);
  });
});

describe('lemmy', () => {
  type Found = Record<string, Record<string, Record<string, unknown>>[]> & { next_page?: string };
  const publish = (title: string, more: object = {}) =>
    Number(client.simulator.world.publish('lemmy', { title, text: '', author: 'ada', ...more }).id);
  const ask = (path: string) => client.ask(`/api/v3/${path}`);
  const search = async (q: string, more = '') =>
    (await ask(`search?sort=New&q=${encodeURIComponent(q)}${more}`)).json<Found>();
  const ids = (found: Found, what: string) => found[`${what}s`]?.map((view) => view[what]?.['id']);

  it('finds parts of words in their order, in titles, texts and comments, and has no OR', async () => {
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

  it('gives posts and comments pages of their own, ten things long and at most fifty', async () => {
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

  it('lists the newest posts by a cursor, and the newest comments by number, of all communities or one', async () => {
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
    // A community that is not known is passed over.
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

  it('tells its version, and has nothing of the next one', async () => {
    const site = (await ask('site')).json<{ version: string; all_languages: object[] }>();
    expect(site.version).toBe('0.19.20');
    expect(site.all_languages).toContainEqual({ id: 37, code: 'en', name: 'English' });
    expect((await client.ask('/api/v4/search?q=a')).status).toBe(404);
  });

  it('refuses the sixty-first search of ten minutes with 400, and no word on how long', async () => {
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
