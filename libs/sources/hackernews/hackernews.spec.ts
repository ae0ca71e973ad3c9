import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createHackernewsConnector, parseSearchAnswer } from './index.js';
import { commentHit, serveStories, storyHit } from './testing/fixtures.js';

const connector = createHackernewsConnector();

describeConnector('hackernews', {
  create: createHackernewsConnector,
  criteria: criteriaOf({ query: 'lamp' }),
  serve: serveStories,
  pageSize: 1000,
  itemIdOf: (n) => `hn:${40_000_000 - n}`,
  changedShapes: [
    {},
    [],
    { results: [] },
    { hits: {} },
    { message: 'Invalid filter' },
    { hits: [{ id: 1, name: 'x' }] },
    { hits: [{ ...storyHit(1, SPEC_NOW), title: undefined, headline: 'Lamp' }] },
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('hackernews', () => ({ body: { hits: [] } }));
  await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return upstream.requests.map(({ at }) => Object.fromEntries(at.searchParams));
}

describe('the request to Hacker News', () => {
  it('asks for the exact phrase, newest first, from 5 minutes before the last read', async () => {
    const upstream = fakeUpstream('hackernews', () => ({ body: { hits: [] } }));
    const since = new Date('2026-03-04T11:00:00.500Z');
    await connector.search(criteriaOf({ query: 'desk lamp' }), fakeContext(upstream.http, { since }));
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      'https://hn.algolia.com/api/v1/search_by_date?query=%22desk+lamp%22&typoTolerance=false' +
        '&tags=%28story%2Ccomment%2Cpoll%2Cjob%29&hitsPerPage=1000&numericFilters=created_at_i%3E1772621700',
    ]);
  });

  it('is one request for each different term, with the query before the term', async () => {
    const queries = (await asked({ query: 'led', terms: ['Lamp', 'lamp ', 'desk light'] })).map(
      (q) => q['query'],
    );
    expect(queries).toEqual(['"led" "Lamp"', '"led" "desk light"']);
    expect(connector.requestsPerSearch(criteriaOf({ terms: ['a', 'b', 'c'] }))).toBe(3);
  });

  it.each([
    ['word', 'a "big" lamp', '"a big lamp"', 'false'],
    ['contains', 'lamp', 'lamp', 'false'],
    ['contains', 'desk lamp', '"desk lamp"', 'false'],
    ['platform', 'lamp -led', 'lamp -led', 'min'],
  ] as const)(
    'uses the mode `%s` to turn the query `%s` into the text `%s`',
    async (match, query, text, typoTolerance) => {
      expect(await asked({ query }, { match })).toMatchObject([{ query: text, typoTolerance }]);
    },
  );

  it('needs a query or terms', () => {
    expect(connector.checkCriteria(criteriaOf({}))).toEqual([
      { path: 'query', message: 'a search on hackernews needs a query or terms' },
    ]);
    expect(connector.checkCriteria(criteriaOf({ terms: ['a', 'b'] }))).toEqual([]);
  });
});

describe('the feed of Hacker News', () => {
  it('consists of all new items, up to a thousand in one response', async () => {
    const upstream = fakeUpstream('hackernews', (request) => serveStories([{ n: 1, at: SPEC_NOW }], request));
    const since = new Date('2026-03-04T11:00:00Z');
    const fetched = await connector.feed?.read(since, fakeContext(upstream.http));
    expect(fetched?.items.map((item) => item.itemId)).toEqual(['hn:39999999']);
    expect(Object.fromEntries(upstream.requests[0]?.at.searchParams ?? [])).toEqual({
      tags: '(story,comment,poll,job)',
      hitsPerPage: '1000',
      numericFilters: 'created_at_i>1772621700',
    });
  });

  it('needs one page for 50 minutes, and is not used if it needs more than 10 pages', () => {
    const pages = [60, 3_000, 3_600, 33_000, 34_000].map((seconds) => connector.feed?.pagesFor(seconds));
    expect(pages).toEqual([1, 1, 2, 10, Infinity]);
  });
});

describe('items of Hacker News', () => {
  it('have the address of the discussion and a link to the page if they are stories', () => {
    const [item] = parseSearchAnswer({ hits: [storyHit(1, SPEC_NOW)] }).items;
    expect(item).toMatchObject({
      itemId: 'hn:39999999',
      eventType: 'hn_item.created',
      kind: 'story',
      url: 'https://news.ycombinator.com/item?id=39999999',
      title: 'Show HN: Lamp number 1',
      text: '',
      author: 'ada_byron',
      authorUrl: 'https://news.ycombinator.com/user?id=ada_byron',
      engagement: { score: 12, replies: 3 },
      media: [{ url: 'https://lamps.example/1', type: 'link' }],
    });
    expect(JSON.parse(item?.bodyJson ?? '')).toEqual({
      id: '39999999',
      source: 'hackernews',
      url: 'https://lamps.example/1',
      author: 'ada_byron',
      publishedAt: '2026-03-04T12:00:00.000Z',
      kind: 'story',
      hnUrl: 'https://news.ycombinator.com/item?id=39999999',
      title: 'Show HN: Lamp number 1',
      text: '',
      points: 12,
      numComments: 3,
      storyId: '39999999',
      storyUrl: 'https://lamps.example/1',
      parentId: null,
    });
  });

  it('have the title of the story, and a text with whole addresses, if they are comments', () => {
    const [item] = parseSearchAnswer({ hits: [commentHit(1, SPEC_NOW)] }).items;
    expect(item?.text).toBe("It's bright.\n\nSee https://lamps.example/reviews/of/2026");
    expect(JSON.parse(item?.bodyJson ?? '')).toMatchObject({
      id: '49999999',
      kind: 'comment',
      url: null,
      hnUrl: 'https://news.ycombinator.com/item?id=49999999',
      title: 'Show HN: Lamp number 1',
      points: null,
      numComments: null,
      storyId: '40000001',
      parentId: '40000002',
    });
    expect(item?.engagement).toBeUndefined();
  });

  it('are read even if fields are null or empty', () => {
    const old = {
      url: null,
      story_text: '',
      comment_text: null,
      points: 1,
      num_comments: null,
      story_id: null,
    };
    const [item] = parseSearchAnswer({ hits: [storyHit(1, SPEC_NOW, old)] }).items;
    expect(JSON.parse(item?.bodyJson ?? '')).toMatchObject({
      url: null,
      text: '',
      numComments: null,
      storyId: '39999999',
    });
    expect(item?.engagement).toMatchObject({ score: 1 });
  });

  it('are left out and counted if they cannot be read, while the other items are kept', () => {
    const answer = parseSearchAnswer({
      hits: [storyHit(1, SPEC_NOW), null, { objectID: '7' }, commentHit(2, SPEC_NOW, { comment_text: null })],
    });
    expect(answer.items.map((item) => item.itemId)).toEqual(['hn:39999999']);
    expect(answer.warnings).toEqual([
      'hackernews: 1 of 4 items could not be read: no objectID',
      'hackernews: 1 of 4 items could not be read: no created_at_i',
      'hackernews: 1 of 4 items could not be read: no comment_text',
    ]);
  });

  it('are reported as a gap if a query finds more than a thousand items', async () => {
    const upstream = fakeUpstream('hackernews', () => ({
      body: { hits: [], message: 'only the 1000 hits' },
    }));
    const fetched = await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
    expect(fetched).toEqual({
      items: [],
      gap: true,
      warnings: ['hackernews gives at most 1,000 items for one query; older ones are missing'],
    });
  });

  it('do not cause an endless read if more items than fit on a page have the same time', async () => {
    const posts = Array.from({ length: 1500 }, (_, n) => ({ n, at: SPEC_NOW }));
    const upstream = fakeUpstream('hackernews', (request) => serveStories(posts, request));
    const since = new Date('2026-03-04T11:00:00Z');
    const fetched = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since }),
    );
    expect([fetched.items.length, fetched.gap, upstream.requests.length]).toEqual([1000, true, 2]);
  });
});
