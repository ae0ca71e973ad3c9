import { SimulatorClient } from '../../testing/simulator-client.js';

let client: SimulatorClient;

beforeEach(async () => {
  client = await SimulatorClient.start();
});
afterEach(() => client.stop());

describe('the simulated Hacker News search', () => {
  type Found = {
    hits: { objectID: string; story_text?: string; comment_text?: string }[];
    nbHits: number;
    nbPages: number;
  };
  const search = async (query: string) => (await client.ask(`/api/v1/search_by_date?${query}`)).json<Found>();
  const idsOf = ({ hits }: Found) => hits.map(({ objectID }) => objectID);

  it('finds words despite typos, and the last word as a prefix, unless the request disables typos or prefixes', async () => {
    const acme = await client.publish('hackernews', 'An acme rocket');
    const typo = await client.publish('hackernews', 'An akne rocket');
    const longer = await client.publish('hackernews', 'On acmeology');
    expect(idsOf(await search('query=acme'))).toEqual([longer, acme]);
    expect(idsOf(await search('query=acme&queryType=prefixNone'))).toEqual([acme]);
    expect(idsOf(await search('query=rocket+acmee'))).toEqual([acme]);
    expect(idsOf(await search('query=rokcet'))).toEqual([typo, acme]);
    expect(idsOf(await search('query=rokcet&typoTolerance=false'))).toEqual([]);
    expect(idsOf(await search('query=%22acme+rocket%22'))).toEqual([acme]);
    expect(idsOf(await search('query=%22rocket+acme%22'))).toEqual([]);
    expect(idsOf(await search('query=rocket+-akne'))).toEqual([acme]);
  });

  it('filters by tags and numbers, and returns numbered pages', async () => {
    const story = await client.publish('hackernews', 'first');
    client.clock.pass(10);
    const comment = await client.publish('hackernews', 'second', { kind: 'comment', author: 'ada' });
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

  it('returns texts as HTML', async () => {
    await client.publish('hackernews', `It's "A & B" at https://a.example/x\n\nsecond`);
    const { hits } = await search('');
    const link =
      '<a href="https:&#x2F;&#x2F;a.example&#x2F;x" rel="nofollow">https:&#x2F;&#x2F;a.example&#x2F;x</a>';
    expect(hits[0]!.story_text).toBe(`It&#x27;s &quot;A &amp; B&quot; at ${link}<p>second`);
  });
});
