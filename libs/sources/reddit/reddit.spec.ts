import { describe, expect, it } from 'vitest';
import { describeConnector } from '../connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createRedditConnector, parseListing } from './index.js';
import { commentThing, listing, postName, postThing, servePosts, serveSignIn } from './invented.js';

const settings = { clientId: 'app', clientSecret: 's3cret' };
const connector = createRedditConnector(settings);

describeConnector('reddit', {
  create: () => createRedditConnector(settings),
  criteria: criteriaOf({ query: 'lamp' }),
  // Posts only: the listing of comments beside them has specs of its own.
  match: 'platform',
  serve: servePosts,
  signIn: serveSignIn,
  pageSize: 100,
  itemIdOf: postName,
  changedShapes: [
    {},
    [],
    { data: { children: [] } },
    { kind: 'Listing', data: {} },
    { kind: 'Listing', data: { children: {} } },
    listing([{ kind: 't5', data: {} }]),
    listing([{ kind: 't3', data: { id: 'x1', headline: 'Lamp' } }]),
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { body: listing([]) });
  await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return upstream.requests
    .slice(1)
    .map(({ at }) => decodeURIComponent(`${at.pathname}${at.search}`.replaceAll('+', ' ')));
}

describe('what reddit is asked', () => {
  it('is one search for all terms, and the newest comments', async () => {
    expect(await asked({ query: 'led', terms: ['lamp', 'desk light'] })).toEqual([
      '/search?q=led (lamp OR "desk light")&sort=new&type=link&limit=100&raw_json=1',
      '/r/all/comments?limit=100&raw_json=1',
    ]);
  });

  it('is kept to the subreddits of the search', async () => {
    const filters = { subreddit: ['lamps', 'r/Lighting'] };
    const expected = [
      '/r/lamps Lighting/search?q=lamp&sort=new&type=link&restrict_sr=1&limit=100&raw_json=1',
      '/r/lamps Lighting/comments?limit=100&raw_json=1',
    ];
    expect(await asked({ query: 'lamp', filters })).toEqual(expected);
    expect(await asked({ query: 'lamp', filters: { subreddit: '/r/lamps, Lighting' } })).toEqual(expected);
  });

  it('is everything new in the subreddits when the search names no words', async () => {
    expect(await asked({ filters: { subreddit: 'lamps' } })).toEqual([
      '/r/lamps/new?limit=100&raw_json=1',
      '/r/lamps/comments?limit=100&raw_json=1',
    ]);
  });

  it('is the words as they are, and no comments, in mode platform', async () => {
    expect(await asked({ query: 'title:lamp NOT led' }, { match: 'platform' })).toEqual([
      '/search?q=title:lamp NOT led&sort=new&type=link&limit=100&raw_json=1',
    ]);
  });

  it('is several searches where the terms do not fit into one', async () => {
    const terms = Array.from({ length: 50 }, (_, n) => `a term of some length, number ${n}`);
    const queries = (await asked({ query: 'led', terms }))
      .slice(0, -1)
      .map((url) => /q=(.*)&sort/.exec(url)?.[1] ?? '');
    expect(queries.length).toBe(4);
    expect(queries.every((q) => q.length <= 512 && q.startsWith('led ("a term'))).toBe(true);
    expect(queries.join().match(/number \d+/g)?.length).toBe(50);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'led', terms }))).toBe(5);
  });

  it.each([
    [{}, 'query', 'a search on reddit needs a query, terms or filters.subreddit'],
    [
      { query: 'x', filters: { subreddit: 7 } },
      'filters.subreddit',
      'must be the name of a subreddit or a list of names',
    ],
    [
      { query: 'x', filters: { subreddit: ['ok', 'a b'] } },
      'filters.subreddit',
      '"a b" is not the name of a subreddit',
    ],
    [{ query: 'x '.repeat(300) }, 'query', 'reddit takes at most 512 characters'],
  ])('cannot be %j', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });

  it('once for all searches of a batch, where they ask the same', async () => {
    const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { body: listing([]) });
    const reads = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const reading = (reads.get(key) as Promise<T> | undefined) ?? read();
      reads.set(key, reading);
      return reading;
    };
    const session = new Map();
    await Promise.all(
      ['lamp', 'light'].map((query) =>
        connector.search(criteriaOf({ query }), fakeContext(upstream.http, { shared, session })),
      ),
    );
    expect(upstream.requests.map(({ at }) => at.pathname).sort()).toEqual([
      '/api/v1/access_token',
      '/r/all/comments',
      '/search',
      '/search',
    ]);
  });

  it('reads few pages of all comments, and tells the gap', async () => {
    const upstream = fakeUpstream(
      'reddit',
      (request) =>
        serveSignIn(request) ?? {
          body:
            request.at.pathname === '/search' ? listing([]) : listing([commentThing(1, SPEC_NOW)], 't1_zz'),
        },
    );
    const since = new Date(SPEC_NOW.getTime() - 3_600_000);
    const context = fakeContext(upstream.http, { since, pageCap: 10 });
    const fetched = await connector.search(criteriaOf({ query: 'lamp' }), context);
    expect([fetched.gap, upstream.requests.length]).toEqual([true, 1 + 1 + 3]);
  });
});

describe('signing in to reddit', () => {
  function upstreamOf(answers: (token: string | undefined, signIns: number) => FakeAnswer) {
    let signIns = 0;
    return fakeUpstream(
      'reddit',
      (request) => {
        if (request.at.pathname !== '/api/v1/access_token')
          return answers(request.headers?.['authorization'], signIns);
        signIns += 1;
        return { body: { access_token: `token-${signIns}`, expires_in: 3_600 } };
      },
      { settings: connector.requiredSettings },
    );
  }
  const criteria = criteriaOf({ query: 'lamp' });
  const search = (upstream: ReturnType<typeof upstreamOf>, more: Partial<FetchContext> = {}) =>
    connector.search(criteria, fakeContext(upstream.http, { match: 'platform', ...more }));

  it('sends the application, and then its token', async () => {
    const upstream = upstreamOf(() => ({ body: listing([]) }));
    await search(upstream);
    const [signIn, request] = upstream.requests;
    expect(signIn).toMatchObject({
      method: 'POST',
      url: 'https://www.reddit.com/api/v1/access_token',
      headers: { authorization: 'Basic YXBwOnMzY3JldA==', 'user-agent': 'server:app:v1 (Earshot)' },
      body: 'grant_type=client_credentials',
    });
    expect(request?.headers).toMatchObject({
      authorization: 'bearer token-1',
      'user-agent': 'server:app:v1 (Earshot)',
    });
  });

  it('happens once while the token lasts, and again shortly before it ends', async () => {
    const upstream = upstreamOf(() => ({ body: listing([]) }));
    const session = new Map();
    await search(upstream, { session });
    await search(upstream, { session });
    expect(upstream.requests.length).toBe(3);
    await search(upstream, { session, now: new Date(SPEC_NOW.getTime() + 3_550_000) });
    expect(upstream.requests.length).toBe(5);
  });

  it('happens again, once, when the token is refused', async () => {
    const upstream = upstreamOf((token) =>
      token === 'bearer token-1' ? { status: 401, body: { error: 401 } } : { body: listing([]) },
    );
    await search(upstream);
    expect(upstream.requests.length).toBe(4);
  });

  it('gives up when a fresh token is refused too', async () => {
    const upstream = upstreamOf(() => ({ status: 401, body: { message: 'Unauthorized', error: 401 } }));
    await expect(search(upstream)).rejects.toMatchObject({ kind: 'unauthorized', statusCode: 401 });
    expect(upstream.requests.length).toBe(4);
  });

  it.each([
    [{ status: 401, body: { message: 'Unauthorized', error: 401 } }, 'unauthorized'],
    [{ body: { error: 'invalid_grant' } }, 'unauthorized'],
    [{ body: {} }, 'unknown_shape'],
  ] as const)('that is refused with %j is told, with the settings at fault', async (answer, kind) => {
    const upstream = fakeUpstream('reddit', () => answer, { settings: connector.requiredSettings });
    const session = new Map();
    const fault = await connector
      .search(criteria, fakeContext(upstream.http, { session }))
      .catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind });
    if (kind === 'unauthorized') {
      expect(String(fault)).toContain('SOURCE_REDDIT_CLIENT_ID and SOURCE_REDDIT_CLIENT_SECRET');
    }
    expect(session.size).toBe(0);
  });
});

describe('things of reddit', () => {
  const one = (thing: object) => parseListing(listing([thing])).items[0];
  const bodyOf = (thing: object) => JSON.parse(one(thing)?.bodyJson ?? '{}') as Record<string, unknown>;

  it('a post', () => {
    expect(one(postThing(1, SPEC_NOW))).toMatchObject({
      itemId: 't3_lflr',
      eventType: 'post.created',
      kind: 'post',
      url: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      title: 'A lamp, number 1',
      text: 'Lamp number 1 is bright.',
      author: 'Ada_Byron',
      community: 'lamps',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { score: 17, replies: 4 },
      media: [],
    });
    expect(bodyOf(postThing(1, SPEC_NOW))).toEqual({
      id: 'lflr',
      name: 't3_lflr',
      source: 'reddit',
      kind: 'post',
      url: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      permalink: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      author: 'Ada_Byron',
      publishedAt: '2026-03-04T12:00:00.000Z',
      title: 'A lamp, number 1',
      selftext: 'Lamp **number 1** is _bright_.',
      subreddit: 'lamps',
      link: null,
      score: 17,
      numComments: 4,
      flair: null,
      over18: false,
      crosspostOf: null,
      parentId: null,
      postId: 't3_lflr',
    });
  });

  it('a comment is in the same shape, under the title of its post, with t1_ before its id', () => {
    const thing = commentThing(1, SPEC_NOW);
    expect(one(thing)).toMatchObject({
      itemId: 't1_lflr',
      eventType: 'reddit_comment.created',
      kind: 'comment',
      title: 'A lamp, number 1',
      text: 'I like this one (https://lamps.example/7).',
      url: 'https://www.reddit.com/r/lamps/comments/100/a_lamp/lflr/',
    });
    expect(Object.keys(bodyOf(thing)).sort()).toEqual(Object.keys(bodyOf(postThing(1, SPEC_NOW))).sort());
    expect(bodyOf(thing)).toMatchObject({
      id: 't1_lflr',
      kind: 'comment',
      selftext: 'I like [this one](https://lamps.example/7).',
      parentId: 't1_9',
      postId: 't3_100',
    });
  });

  it('a comment of old has no permalink, and gets one', () => {
    expect(one(commentThing(1, SPEC_NOW, { permalink: undefined }))?.url).toBe(
      'https://www.reddit.com/r/lamps/comments/100/_/lflr/',
    );
  });

  it('Markdown that is not rendered is the text', () => {
    expect(one(postThing(1, SPEC_NOW, { selftext: '&#x200B;\n\nOn.', selftext_html: null }))?.text).toBe(
      'On.',
    );
  });

  it('escaped HTML (an answer without raw_json) never stays HTML', () => {
    const html = '&lt;div class="md"&gt;&lt;p&gt;A &amp;amp; B&lt;/p&gt;&lt;/div&gt;';
    expect(one(postThing(1, SPEC_NOW, { selftext_html: html }))?.text).toBe('A & B');
  });

  it.each([
    [
      'a link',
      { is_self: false, url: 'https://lamps.example/a' },
      [{ type: 'link', url: 'https://lamps.example/a' }],
    ],
    [
      'an image',
      { is_self: false, url: 'https://i.redd.it/a.jpg' },
      [{ type: 'image', url: 'https://i.redd.it/a.jpg' }],
    ],
    [
      'a video',
      {
        is_self: false,
        url: 'https://v.redd.it/a',
        media: { reddit_video: { fallback_url: 'https://v.redd.it/a/D.mp4' } },
      },
      [{ type: 'video', url: 'https://v.redd.it/a/D.mp4' }],
    ],
    [
      'a gallery, in its order',
      {
        is_self: false,
        url: 'https://www.reddit.com/gallery/a',
        gallery_data: { items: [{ media_id: 'm2' }, { media_id: 'm1' }, { media_id: 'm3' }] },
        media_metadata: {
          m1: { s: { u: 'https://i.redd.it/1' } },
          m2: { s: { gif: 'https://i.redd.it/2' } },
          m3: {},
        },
      },
      [
        { type: 'image', url: 'https://i.redd.it/2' },
        { type: 'image', url: 'https://i.redd.it/1' },
      ],
    ],
  ])('a post with %s', (_, more, media) => {
    expect(one(postThing(1, SPEC_NOW, more))?.media).toMatchObject(media);
  });

  it('a crosspost names the post that it shares, and is one mention', () => {
    const original = postThing(2, SPEC_NOW).data;
    const thing = postThing(1, SPEC_NOW, { crosspost_parent: 't3_lflq', crosspost_parent_list: [original] });
    expect(parseListing(listing([thing])).items.length).toBe(1);
    expect(bodyOf(thing)['crosspostOf']).toBe('t3_lflq');
  });

  it('a post whose author left stays, without an author', () => {
    expect(one(postThing(1, SPEC_NOW, { author: '[deleted]' }))?.author).toBeUndefined();
  });

  it('what was deleted or removed, stubs and broken things are counted', () => {
    const { items, warnings } = parseListing(
      listing([
        postThing(1, SPEC_NOW),
        postThing(2, SPEC_NOW, { removed_by_category: 'moderator' }),
        postThing(3, SPEC_NOW, { selftext: '[removed]' }),
        commentThing(4, SPEC_NOW, { author: '[deleted]', body: '[deleted]' }),
        { kind: 'more', data: { count: 12, children: ['a', 'b'] } },
        postThing(5, SPEC_NOW, { created_utc: 'yesterday' }),
        null,
      ]),
    );
    expect(items.map((item) => item.itemId)).toEqual(['t3_lflr']);
    expect(warnings).toEqual([
      'reddit: 3 of 7 items left out: deleted or removed',
      'reddit: 1 of 7 items left out: a stub of more comments, without text',
      'reddit: 1 of 7 items could not be read: no created_utc',
      'reddit: 1 of 7 items could not be read: no data',
    ]);
  });

  it('a subreddit that does not exist is told as such', async () => {
    const upstream = fakeUpstream('reddit', (request) => serveSignIn(request) ?? { status: 302 });
    const criteria = criteriaOf({ query: 'lamp', filters: { subreddit: 'nolamps' } });
    await expect(connector.search(criteria, fakeContext(upstream.http))).rejects.toMatchObject({
      kind: 'not_found',
      message: 'reddit answered 302: there is no such subreddit; check filters.subreddit',
    });
  });
});
