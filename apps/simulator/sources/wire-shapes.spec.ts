import { parseFeed } from 'feedsmith';
import { commonKeys, comparedTitle, expectKeys, hasRecorded, recorded } from '../testing/recorded-shapes.js';
import type { Json } from '../testing/recorded-shapes.js';
import { SimulatorClient } from '../testing/simulator-client.js';

type Listing = { kind: string; data: Json & { children: { kind: string; data: Json }[] } };

(hasRecorded ? describe : describe.skip)(comparedTitle, () => {
  let client: SimulatorClient;

  beforeAll(async () => {
    client = await SimulatorClient.start({ historyPosts: 120 });
  });
  afterAll(() => client.stop());

  it('hackernews answers, stories and comments have the keys that all recent answers have', async () => {
    const answer = (await client.ask('/api/v1/search_by_date?hitsPerPage=100')).json<
      Json & { hits: Json[] }
    >();
    const files = ['search-recent-1.json', 'search-recent-2.json', 'search-recent-3.json'];
    const recent = files.map((file) => recorded<Json & { hits: Json[] }>(`hackernews/${file}`));
    expectKeys(answer, commonKeys(recent));
    for (const kind of ['story', 'comment']) {
      const ofKind = (hits: Json[]) => hits.filter((hit) => (hit._tags as string[])[0] === kind);
      const expected = commonKeys(ofKind(recent.flatMap(({ hits }) => hits)));
      for (const hit of ofKind(answer.hits))
        expectKeys(
          hit,
          expected.filter((key) => !['children', 'story_url'].includes(key)),
        );
    }
    const past = (await client.ask('/api/v1/search_by_date?hitsPerPage=100&page=10')).json<Json>();
    expect(past).toEqual(recorded('hackernews/search_by_date-past-cap-1.json'));
  });

  it('hackernews items have every key of a recorded item', async () => {
    const { hits } = (await client.ask('/api/v1/search?tags=comment')).json<{
      hits: { objectID: string }[];
    }>();
    const item = (await client.ask(`/api/v1/items/${hits[0]!.objectID}`)).json<Json>();
    expectKeys(item, Object.keys(recorded<Json>('hackernews/items-1.json')));
  });

  it('reddit posts and comments have the keys that all recorded posts and comments have', async () => {
    const bearer = await client.reddit();
    const pairs: [string, string][] = [
      ['/r/all/new?limit=100&raw_json=1', 'reddit/hot-1.json'],
      ['/r/all/comments?limit=100&raw_json=1', 'reddit/comments-3.json'],
    ];
    for (const [path, file] of pairs) {
      const answer = (await client.ask(path, bearer)).json<Listing>();
      const known = recorded<Listing>(file);
      expect(Object.keys(answer.data).sort()).toEqual(Object.keys(known.data).sort());
      const expected = commonKeys(known.data.children.map(({ data }) => data));
      expect(answer.data.children.length).toBeGreaterThan(20);
      for (const { kind, data } of answer.data.children) {
        expect(kind).toBe(known.data.children[0]!.kind);
        expectKeys(data, expected);
      }
    }
  });

  it('a reddit thread is two listings, as recorded', async () => {
    const bearer = await client.reddit();
    const comments = (await client.ask('/r/all/comments?limit=1', bearer)).json<Listing>();
    const link = String(comments.data.children[0]!.data.link_id).slice(3);
    const thread = (await client.ask(`/comments/${link}?raw_json=1`, bearer)).json<Listing[]>();
    const known = recorded<Listing[]>('reddit/comments-tree-2.json');
    expect(thread.map(({ kind, data }) => [kind, Object.keys(data).sort()])).toEqual(
      known.map(({ kind, data }) => [kind, Object.keys(data).sort()]),
    );
    const seenByModerators = ['approved', 'ignore_reports', 'removed', 'spam', 'rte_mode'];
    const expected = Object.keys(known[1]!.data.children[0]!.data).filter(
      (key) => !seenByModerators.includes(key),
    );
    expectKeys(thread[1]!.data.children[0]!.data, expected);
  });

  it('bluesky posts, records and authors have the keys that all recorded posts, records and authors have', async () => {
    type Posts = { posts: (Json & { record: Json; author: Json })[]; cursor?: string };
    const path = '/xrpc/app.bsky.feed.searchPosts?q=northwind&limit=100';
    const answer = (await client.ask(path, await client.bluesky())).json<Posts>();
    const { posts } = recorded<Posts>('bluesky/searchPosts-3.json');
    expect(answer.posts.length).toBeGreaterThan(5);
    for (const post of answer.posts) {
      expectKeys(post, commonKeys(posts));
      expectKeys(post.record, commonKeys(posts.map(({ record }) => record)));
      expectKeys(post.author, commonKeys(posts.map(({ author }) => author)));
    }
    expect((await client.ask(path)).status).toBe(401);
    const refused = (await client.ask(`${path}0`, await client.bluesky())).json<Json>();
    expect(Object.keys(refused).sort()).toEqual(
      Object.keys(recorded<Json>('bluesky/http-400-1.json')).sort(),
    );
  });

  it('json feeds have the keys of a recorded feed', async () => {
    const feed = (await client.ask('/feeds/all.json')).json<Json & { items: Json[] }>();
    const optional = ['user_comment', 'author', 'icon'];
    const known = recorded<Json & { items: Json[] }>('rss/jsonfeed-2.json');
    expectKeys(
      feed,
      Object.keys(known).filter((key) => !optional.includes(key)),
    );
    const expected = commonKeys(recorded<{ items: Json[] }>('rss/jsonfeed-1.json').items);
    expectKeys(feed.items[0]!, expected);
  });
});

describe('the simulated feeds', () => {
  it.each(['rss', 'atom', 'rdf', 'json'])('are read by a feed parser as %s', async (extension) => {
    const client = await SimulatorClient.start();
    const text = 'Größe & <b>Ende</b> ]]> "x"';
    await client.post('/_sim/posts', {
      source: 'rss',
      community: 'mine',
      title: 'A & B',
      text,
      author: 'Ada',
    });
    const answer = await client.ask(`/feeds/mine.${extension}`);
    const { format, feed } = parseFeed(answer.text);
    expect(format).toBe(extension);
    expect(JSON.stringify(feed)).toContain('A & B');
    expect(JSON.stringify(feed)).toMatch(/2026-03-01T12:00:00|01 Mar 2026 12:00:00 GMT/);
    await client.stop();
  });
});
