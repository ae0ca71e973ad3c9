import {
  allKeys,
  commonKeys,
  comparedTitle,
  expectKeys,
  hasRecorded,
  recorded,
} from '../testing/recorded-shapes.js';
import type { Json } from '../testing/recorded-shapes.js';
import { SimulatorClient } from '../testing/simulator-client.js';
import { postNode } from './producthunt/posts.js';

const BEARER = { authorization: 'Bearer any', 'user-agent': 'Earshot/spec' };

/** Expects every key that all recorded objects have, except those in `older`, and only keys of recorded objects. */
function expectLike(actual: object, known: readonly object[], older: readonly string[] = []): void {
  expectKeys(
    actual,
    commonKeys(known).filter((key) => !older.includes(key)),
  );
  expect(allKeys(known)).toEqual(expect.arrayContaining(Object.keys(actual)));
}

(hasRecorded ? describe : describe.skip)(comparedTitle, () => {
  let client: SimulatorClient;

  beforeAll(async () => {
    client = await SimulatorClient.start({ historyPosts: 120 });
    const { world } = client.simulator;
    const about = { title: 'Acme Lamp', text: 'acme https://acme.example/a #acme @ada@kind.example' };
    world.publish('mastodon', { ...about, author: 'ada@social.example' });
    world.publish('mastodon', { ...about, author: 'ada@kind.example' });
    for (const kind of ['pull_request', 'discussion', 'repository'] as const)
      world.publish('github', { ...about, kind });
    world.publish('producthunt', about);
  });
  afterAll(() => client.stop());

  const ask = async <T>(path: string, headers: Record<string, string> = BEARER) =>
    (await client.ask(path, headers)).json<T>();

  describe('mastodon', () => {
    type Status = Json & { account: Json; card: Json | null; mentions: Json[]; tags: Json[] };
    const statuses = (file: string) => recorded<Status[]>(`mastodon/${file}.json`);
    const today = () => recorded<{ statuses: Status[]; accounts: Json[] }>('mastodon/search-v2-1.json');

    it('statuses and accounts have the keys of a recent search', async () => {
      const answer = await ask<Json & { statuses: Status[] }>('/api/v2/search?q=acme&limit=40');
      expect(Object.keys(answer).sort()).toEqual(Object.keys(today()).sort());
      expect(answer.statuses.length).toBeGreaterThan(5);
      const locals = recorded<{ accounts: Json[] }>('mastodon/search-v2-2.json').accounts;
      for (const status of answer.statuses) {
        const { account } = status;
        expectLike(status, [...today().statuses, ...statuses('accounts-statuses-1')]);
        expectKeys(status, commonKeys(today().statuses));
        expectKeys(account, commonKeys(today().statuses.map((each) => each.account)));
        expect(allKeys([...today().accounts, ...locals])).toEqual(
          expect.arrayContaining(Object.keys(account)),
        );
      }
    });

    it('statuses without a sign-in have the recorded keys, which do not include reactions of the reader', async () => {
      const answer = await ask<Status[]>('/api/v1/timelines/tag/acme', {});
      const known = [...statuses('timelines-tag-1'), ...statuses('timelines-tag-2')];
      const since = ['quotes_count', 'quote_approval', 'tagged_collections'];
      expect(answer).toHaveLength(2);
      for (const status of answer) {
        expectKeys(status, commonKeys(known));
        expect([...allKeys(known), ...since]).toEqual(expect.arrayContaining(Object.keys(status)));
        expectLike(
          status.tags[0]!,
          known.flatMap(({ tags }) => tags),
        );
        expectLike(
          status.mentions[0]!,
          known.flatMap(({ mentions }) => mentions),
        );
        expectLike(
          status.card!,
          known.map(({ card }) => card).filter((card) => card !== null),
        );
      }
    });

    it('refusals have the recorded texts', async () => {
      const wrong = await ask<Json>('/api/v2/search?q=a', { authorization: 'Bearer wrong' });
      expect(wrong).toEqual(recorded('mastodon/http-401-1.json'));
      expect(await ask<Json>('/api/v1/statuses/0')).toEqual(recorded('mastodon/http-404-1.json'));
      expect(await ask<Json>('/api/v2/search?q=nothing&type=statuses')).toEqual(
        recorded('mastodon/search-v2-empty-1.json'),
      );
    });
  });

  describe('lemmy', () => {
    type View = Record<string, Json>;
    type Found = Json & Record<'posts' | 'comments' | 'communities' | 'users', View[]>;

    it('views of a search and of lists have the keys of recorded views', async () => {
      const found = await ask<Found>('/api/v3/search?q=e&limit=50');
      const known = recorded<Found>('lemmy/search-v3-1.json');
      expect(Object.keys(found).sort()).toEqual(Object.keys(known).sort());
      const lists = recorded<Found>('lemmy/post-list-v3-1.json');
      const knownOf = {
        posts: [...known.posts, ...lists.posts],
        comments: known.comments,
        communities: known.communities,
        users: known.users,
      };
      // Optional keys, which not every object of the simulator has.
      const optional = ['bio', 'banner', 'embed_title', 'url', 'body', 'url_content_type'];
      for (const what of ['posts', 'comments', 'communities', 'users'] as const) {
        expect(found[what].length).toBeGreaterThan(3);
        for (const view of found[what]) {
          expectLike(view, knownOf[what]);
          for (const [key, part] of Object.entries(view)) {
            if (typeof part !== 'object') continue;
            // The post of a comment, and the community of a post, have the same keys as other posts and communities.
            const alike = ['post', 'community'].includes(key) ? knownOf.posts : [];
            const parts = [...knownOf[what], ...alike].map((each) => each[key]);
            expectLike(
              part,
              parts.filter((each) => each !== undefined),
              optional,
            );
          }
        }
      }
      const list = await ask<Found>('/api/v3/post/list?sort=New&type_=All');
      expect(Object.keys(list)).toEqual(Object.keys(lists));
    });

    it('refusals have the recorded texts', async () => {
      client.simulator.faults.add({ source: 'lemmy', kind: '404', times: 1 });
      expect(await ask('/api/v3/post/list')).toEqual(recorded('lemmy/http-404-1.json'));
    });
  });

  describe('stackoverflow', () => {
    type Found = Json & { items: (Json & { owner: Json })[] };

    it('questions and answers have the keys of recorded questions and answers', async () => {
      const questions = await ask<Found>('/2.3/questions?site=stackoverflow&pagesize=100');
      const known = recorded<Found>('stackoverflow/questions-4.json');
      expect(Object.keys(questions).sort()).toEqual(Object.keys(known).sort());
      expect(questions.items.length).toBeGreaterThan(20);
      // The answers were recorded before the API returned licences.
      const older = recorded<Found>('stackoverflow/answers-1.json').items;
      for (const question of questions.items) {
        expectLike(question, known.items);
        expectKeys(question.owner, commonKeys(known.items.map(({ owner }) => owner)));
      }
      const answers = await ask<Found>('/2.3/answers?site=stackoverflow&pagesize=100');
      expect(answers.items.length).toBeGreaterThan(20);
      for (const answer of answers.items) {
        expectKeys(answer, commonKeys(older));
        expect([...allKeys(older), 'content_license']).toEqual(expect.arrayContaining(Object.keys(answer)));
      }
    });

    it('refusals have the recorded texts', async () => {
      const path = '/2.3/questions?site=stackoverflow';
      expect(await ask(`${path}&pagesize=101`)).toEqual(
        recorded('stackoverflow/http-400-bad-parameter-1.json'),
      );
      expect(await ask(`${path}&page=26`)).toEqual(recorded('stackoverflow/http-400-access-denied-1.json'));
      expect(await ask('/2.3/nothing')).toEqual(recorded('stackoverflow/http-400-1.json'));
      client.simulator.faults.add({
        source: 'stackoverflow',
        kind: '429',
        times: 1,
        retryAfterSeconds: 67_194,
      });
      expect(await ask(path)).toEqual(recorded('stackoverflow/http-400-throttle-1.json'));
    });
  });

  describe('github', () => {
    type Item = Json & { user: Json; reactions: Json; labels: Json[]; pull_request?: Json; owner?: Json };
    type Found = Json & { items: Item[] };

    it.each([
      ['issue', 1],
      ['pr', 4],
    ])('a search for %s has the keys of a recorded search', async (kind, n) => {
      const found = await ask<Found>(`/search/issues?q=is:${kind}&per_page=100`);
      const known = recorded<Found>(`github/search-issues-${n}.json`);
      expect(Object.keys(found).sort()).toEqual(Object.keys(known).sort());
      expect(found.items.length).toBeGreaterThan(0);
      const labels = recorded<Found>('github/search-issues-4.json').items.flatMap((item) => item.labels);
      for (const item of found.items) {
        expect(Object.keys(item).sort()).toEqual(Object.keys(known.items[0]!).sort());
        expectLike(
          item.user,
          known.items.map(({ user }) => user),
        );
        expectLike(
          item.reactions,
          known.items.map(({ reactions }) => reactions),
        );
        for (const label of item.labels) expectLike(label, labels);
        if (item.pull_request)
          expectLike(
            item.pull_request,
            known.items.map((each) => each.pull_request).filter((each) => each !== undefined),
          );
      }
    });

    it('repositories have the keys of recorded repositories, except for the old key `master_branch`', async () => {
      const found = await ask<Found>('/search/repositories?q=acme');
      const known = recorded<Found>('github/search-repositories-2.json');
      const today = recorded<{ items: { repository: Json & { owner: Json } }[] }>(
        'github/search-code-2.json',
      );
      const gone = ['master_branch'];
      expect(found.items.length).toBeGreaterThan(0);
      const present = today.items.map(({ repository }) => repository);
      for (const repository of found.items) {
        expectKeys(
          repository,
          commonKeys(known.items).filter((key) => !gone.includes(key)),
        );
        expectKeys(repository, commonKeys(present));
        expectLike(
          repository.owner!,
          present.map(({ owner }) => owner),
        );
      }
    });

    it('discussions have the plain fields of a recorded discussion', async () => {
      const known = recorded<{ data: { node: Json } }>('github/graphql-discussion-1.json').data.node;
      const plain = Object.entries(known).filter(([, value]) => value === null || typeof value !== 'object');
      const fields = plain.map(([key]) => key).filter((key) => key !== 'editor');
      const query = `{ search(type: DISCUSSION, query: "acme", first: 1) { nodes { ... on Discussion { ${fields.join(' ')} } } } }`;
      const answer = await client.post('/graphql', { query }, BEARER);
      const [node] = answer.json<{ data: { search: { nodes: Json[] } } }>().data.search.nodes;
      expect(Object.keys(node ?? {})).toEqual(fields);
    });

    it('refusals have the recorded texts', async () => {
      expect(await ask('/search/issues?q=acme')).toEqual(recorded('github/http-422-search-1.json'));
      expect(await ask('/search/issues?q=a', {})).toEqual(recorded('github/http-403-3.json'));
    });
  });

  describe('producthunt', () => {
    type Found = { data: { posts: { edges: { node: Json }[] } } };

    it('posts have the keys of recorded posts, and their authors are redacted as recorded', async () => {
      const fields = 'slug name createdAt tagline topics { edges { node { name } } } thumbnail { url }';
      const answer = await client.post(
        '/v2/api/graphql',
        {
          query: `{ posts(order: NEWEST) { edges { node { ${fields} user { name profileImage twitterUsername url username websiteUrl isMaker } } } } }`,
        },
        BEARER,
      );
      const [edge] = answer.json<Found>().data.posts.edges;
      const known = recorded<{ node: Json }[]>('producthunt/posts-edges-1.json').map(({ node }) => node);
      expectLike(edge!.node, known);
      const redacted = recorded<{ data: { user: Json } }>('producthunt/user-redacted-1.json').data.user;
      expect(redacted).toMatchObject(edge!.node['user'] as Json);
    });

    it('every field of a post exists in the description of the API', async () => {
      type Type = { name: string; fields: { name: string }[] | null };
      const schema = recorded<{ data: { __schema: { types: Type[] } } }>('producthunt/graphql-schema-1.json');
      const known = schema.data.__schema.types
        .find(({ name }) => name === 'Post')
        ?.fields?.map(({ name }) => name);
      const [post] = client.simulator.world.posts('producthunt');
      // `reviewsCount` is newer than the recorded description. `__typename` is a field of every GraphQL type.
      const since = ['reviewsCount', '__typename'];
      expect([...(known ?? []), ...since]).toEqual(expect.arrayContaining(Object.keys(postNode(post!))));
    });

    it('refusals have the recorded texts', async () => {
      const refused = await client.post('/v2/api/graphql', { query: '{ posts { totalCount } }' });
      expect(refused.json()).toEqual(recorded('producthunt/error-401-1.json'));
      const signIn = await client.post('/v2/oauth/token', { grant_type: 'authorization_code' });
      expect(signIn.json()).toEqual(recorded('producthunt/error-400-oauth-token-1.json'));
    });
  });
});
