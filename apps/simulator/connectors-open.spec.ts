import { create } from '@bufbuild/protobuf';
import type { JsonObject } from '@bufbuild/protobuf';
import { CriteriaSchema, type MatchMode, type SourceId } from '#contracts';
import { createOutboundHttp } from '#http-out';
import { createSources, createUpstreamHttp, type Fetched } from '#sources';
import { simulatedSources } from './environment.js';
import { SimulatorClient } from './testing/simulator-client.js';
import { SIMULATED } from './sources/index.js';
import type { PostInput } from './world/world.js';
import type { SimPost } from './world/post.js';

// The real connectors on the simulator: several pages, several terms, a start time, and searches that name instances,
// communities, sites, repositories or topics.

const http = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
const sources = createSources(simulatedSources('http://127.0.0.1'));
let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());
afterAll(() => http.close());

interface SearchInput {
  query?: string;
  terms?: string[];
  filters?: JsonObject;
  match?: MatchMode;
}

function search(source: SourceId, { match = 'word', ...criteria }: SearchInput): Promise<Fetched> {
  const now = client.clock.now();
  return sources.get(source)!.connector.search(create(CriteriaSchema, { market: 'global', ...criteria }), {
    http: createUpstreamHttp({ source, http, baseUrl: client.simulator.url, clock: client.clock }),
    match,
    now,
    since: new Date(now.getTime() - 3_600_000),
    pageCap: 10,
    known: () => false,
    state: {},
    shared: (_, read) => read(),
    session: new Map(),
  });
}

function publish(source: SourceId, title: string, more: Partial<PostInput> = {}): SimPost {
  return client.simulator.world.publish(source, { title, text: title, author: 'ada', ...more });
}

const idOf = (post: SimPost) => SIMULATED[post.source]!.itemIdOf!(post)!;
const idsOf = ({ items }: Fetched) => items.map(({ itemId }) => itemId).sort();
const found = (...posts: SimPost[]) => posts.map(idOf).sort();

const OPEN = ['mastodon', 'lemmy', 'stackoverflow', 'github', 'producthunt'] as const;

describe.each(OPEN)('%s', (source) => {
  it('is read over several pages, each post exactly once', async () => {
    const posts = Array.from({ length: 130 }, (_, i) => {
      client.clock.pass(5);
      return publish(source, `Zephyr kettle ${i}`);
    });
    const fetched = await search(source, { query: 'zephyr kettle' });
    expect(fetched.gap).toBe(false);
    expect(fetched.warnings).toEqual([]);
    expect(idsOf(fetched)).toEqual(found(...posts));
  });

  it.each(['word', 'contains', 'platform'] as const)(
    'finds posts with any of several terms in mode `%s`',
    async (match) => {
      const one = publish(source, 'A zephyr kettle');
      const two = publish(source, 'The acme rocket');
      const three = publish(source, 'C++ & node.js');
      const terms = ['zephyr kettle', 'acme rocket', 'node.js', 'quiet', 'lamp', 'brass', 'copper', 'tin'];
      expect(idsOf(await search(source, { terms, match }))).toEqual(found(one, two, three));
    },
  );

  it('finds posts that contain the query and a term', async () => {
    const both = publish(source, 'acme makes a zephyr kettle');
    const ids = idsOf(await search(source, { query: 'zephyr kettle', terms: ['acme', 'globex'] }));
    expect(ids).toContain(idOf(both));
  });
});

it.each(['stackoverflow', 'github', 'producthunt'] as const)(
  'a search finds only items after a given time on %s',
  async (source) => {
    publish(source, 'An old zephyr kettle');
    client.clock.pass(86_400);
    const post = publish(source, 'A new zephyr kettle');
    expect(idsOf(await search(source, { query: 'zephyr kettle' }))).toEqual(found(post));
  },
);

describe('a search with filters', () => {
  it('reads hashtags of other instances on mastodon', async () => {
    const tagged = publish('mastodon', 'My #ZephyrKettle');
    publish('mastodon', 'My zephyr kettle');
    const filters = { instances: ['kind.example'] };
    const fetched = await search('mastodon', { query: 'zephyr kettle', filters });
    expect(idsOf(fetched)).toEqual(found(tagged));
    expect(fetched.warnings).toEqual(['mastodon: on kind.example only hashtags are searched']);
    expect(fetched.items[0]).toMatchObject({ text: 'My #ZephyrKettle' });
  });

  it('reads a community on lemmy, named with or without its server, with or without a query', async () => {
    const post = publish('lemmy', 'A zephyr kettle', { community: 'gadgets' });
    const comment = publish('lemmy', '', { kind: 'comment', text: 'Zephyr kettle!', community: 'gadgets' });
    publish('lemmy', 'A zephyr kettle', { community: 'webdev' });
    for (const community of ['gadgets', '!gadgets@lemmy.example']) {
      const filters = { community };
      expect(idsOf(await search('lemmy', { query: 'zephyr kettle', filters }))).toEqual(found(post, comment));
      expect(idsOf(await search('lemmy', { filters }))).toEqual(found(post, comment));
    }
    expect(idsOf(await search('lemmy', { filters: { community: 'nobody' } }))).toEqual([]);
  });

  it('reads sites and tags on stackoverflow; each answer has the title of its question', async () => {
    const question = publish('stackoverflow', 'A kettle?', { text: 'Zephyr kettle #led', community: 'unix' });
    const answer = publish('stackoverflow', '', {
      kind: 'answer',
      text: 'Zephyr kettle!',
      community: 'unix',
    });
    publish('stackoverflow', 'A zephyr kettle #led');
    const filters = { site: 'unix', tagged: ['led', 'usb'] };
    const fetched = await search('stackoverflow', { query: 'zephyr kettle', filters });
    expect(idsOf(fetched)).toEqual(found(question, answer));
    const item = fetched.items.find(({ itemId }) => itemId === idOf(answer));
    expect(item).toMatchObject({ title: 'A kettle?', text: 'Zephyr kettle!', community: 'unix' });
    expect(idsOf(await search('stackoverflow', { filters }))).toEqual(found(question, answer));
    await expect(search('stackoverflow', { query: 'a', filters: { site: 'lamps' } })).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('reads repositories, organisations and kinds on github', async () => {
    const inRocket = { community: 'acme/rocket' };
    const issue = publish('github', 'A zephyr kettle', inRocket);
    const pull = publish('github', 'A zephyr kettle', { ...inRocket, kind: 'pull_request' });
    const discussion = publish('github', 'A zephyr kettle', {
      kind: 'discussion',
      community: 'northwind/sync',
    });
    const repository = publish('github', 'zephyr-kettle', { kind: 'repository', text: 'A tool' });
    const query = 'zephyr kettle';
    const of = async (filters: JsonObject) => idsOf(await search('github', { query, filters }));
    expect(await of({})).toEqual(found(issue, pull, discussion, repository));
    expect(await of({ kinds: ['pull_request', 'discussion'] })).toEqual(found(pull, discussion));
    expect(await of({ repo: 'acme/rocket' })).toEqual(found(issue, pull));
    expect(await of({ repo: 'acme/rocket', org: 'northwind', kinds: ['issue', 'discussion'] })).toEqual(
      found(issue, discussion),
    );
    await expect(of({ repo: 'nobody/nothing' })).rejects.toMatchObject({ kind: 'unexpected_status' });
  });

  it('reads topics on producthunt', async () => {
    const post = publish('producthunt', 'A zephyr kettle', { community: 'kitchen' });
    publish('producthunt', 'A zephyr kettle', { community: 'garden' });
    const filters = { topic: ['kitchen'] };
    expect(idsOf(await search('producthunt', { query: 'zephyr kettle', filters }))).toEqual(found(post));
  });
});
