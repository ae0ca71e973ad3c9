import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createYoutubeConnector } from './index.js';
import {
  CHANNEL_ID,
  searchResult,
  serveNoDetails,
  serveVideos,
  videoId,
  videoResource,
} from './testing/fixtures.js';

const connector = createYoutubeConnector({ key: 's3cret-key' });
const EMPTY = { kind: 'youtube#searchListResponse', items: [] };

describeConnector('youtube', {
  create: () => createYoutubeConnector({ key: 's3cret-key' }),
  criteria: criteriaOf({ query: 'lamp' }),
  serve: serveVideos,
  detail: serveNoDetails,
  pageSize: 50,
  itemIdOf: videoId,
  changedShapes: [
    {},
    [],
    { items: {} },
    { error: {} },
    { items: [{ id: 'lamp0000001', snippet: { title: 'Lamp' } }] },
    { items: [{ id: { videoId: 'lamp0000001' } }] },
    { items: [searchResult(1, SPEC_NOW, { title: undefined })] },
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('youtube', () => ({ body: EMPTY }));
  await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return upstream.requests.map(({ at }) => Object.fromEntries(at.searchParams));
}

describe('the request to YouTube', () => {
  it('contains the key, and asks for videos, newest first', async () => {
    const upstream = fakeUpstream('youtube', () => ({ body: EMPTY }));
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http));
    const [request] = upstream.requests;
    expect(`${request?.method} ${request?.at.origin}${request?.at.pathname}`).toBe(
      'GET https://www.googleapis.com/youtube/v3/search',
    );
    expect(await asked({ query: 'lamp' })).toEqual([
      { part: 'snippet', type: 'video', order: 'date', maxResults: '50', q: 'lamp', key: 's3cret-key' },
    ]);
  });

  it('asks for videos from 6 hours before the last read, because the search finds new videos late', async () => {
    const since = new Date('2026-03-04T11:00:00.500Z');
    expect(await asked({ query: 'lamp' }, { since })).toMatchObject([
      { publishedAfter: '2026-03-04T05:00:00Z' },
    ]);
  });

  it.each([
    [{ terms: ['lamp', 'desk light'] }, 'lamp|"desk light"'],
    [{ query: 'led', terms: ['lamp', 'desk light'] }, 'led lamp|"desk light"'],
    [{ query: 'led strip' }, '"led strip"'],
    [{ query: '-lamp', terms: ['a|b', 'c'] }, '"-lamp" "a|b"|c'],
  ])('turns the search %j into the words `%s`', async (init, q) => {
    expect(await asked(init)).toMatchObject([{ q }]);
  });

  it('contains the unchanged words in mode `platform`', async () => {
    const init = { query: 'lamp -led', terms: ['desk', 'floor'] };
    expect(await asked(init, { match: 'platform' })).toMatchObject([{ q: 'lamp -led desk|floor' }]);
  });

  it('is limited by the filters and the market', async () => {
    const filters = { channel_id: CHANNEL_ID, lang: 'de', duration: 'short', other: 1 };
    expect(await asked({ query: 'lamp', market: 'uk', sort: 'viewCount', filters })).toMatchObject([
      {
        channelId: CHANNEL_ID,
        relevanceLanguage: 'de',
        videoDuration: 'short',
        regionCode: 'GB',
        order: 'viewCount',
      },
    ]);
    expect(Object.keys((await asked({ query: 'lamp', market: 'global' }))[0] ?? {})).not.toContain(
      'regionCode',
    );
  });

  it('asks for all videos of a channel if the search has no words', async () => {
    const [query] = await asked({ filters: { channel_id: CHANNEL_ID } });
    expect([query?.['channelId'], query && 'q' in query]).toEqual([CHANNEL_ID, false]);
  });

  it('is split into several searches if the terms make an address too long', async () => {
    const terms = Array.from({ length: 50 }, (_, n) => `灯 光 ${n} ${'灯'.repeat(50)}`);
    const queries = (await asked({ query: 'led', terms })).map(({ q }) => q ?? '');
    expect(queries.length).toBe(7);
    expect(queries.every((q) => q.startsWith('led "灯') && encodeURIComponent(q).length <= 4_000)).toBe(true);
    expect(queries.join('|').match(/光 \d+/g)?.length).toBe(50);
    expect(connector.requestsPerSearch(criteriaOf({ query: 'led', terms }))).toBe(14);
  });

  it.each([
    [{}, 'query', 'a search on youtube needs a query, terms or filters.channel_id'],
    [{ query: '灯'.repeat(600) }, 'query', 'is longer than the query that youtube accepts'],
    [
      { query: 'x', sort: 'new' },
      'sort',
      'youtube sorts by date, relevance, rating, title, viewCount, not by "new"',
    ],
    [
      { query: 'x', filters: { channel_id: '@lamps' } },
      'filters.channel_id',
      'must be the id of a channel: "UC" and 22 more characters',
    ],
    [
      { query: 'x', filters: { channel_id: [CHANNEL_ID] } },
      'filters.channel_id',
      'must be the id of a channel: "UC" and 22 more characters',
    ],
    [
      { query: 'x', filters: { lang: 7 } },
      'filters.lang',
      'must be a language of two letters, such as "en", or zh-Hans or zh-Hant',
    ],
    [{ query: 'x', filters: { duration: 'PT1M' } }, 'filters.duration', 'must be one of short, medium, long'],
  ])('is not sent for the criteria %j, which are refused at %s: %s', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });
});

describe('a read of YouTube', () => {
  const since = new Date(SPEC_NOW.getTime() - 86_400_000);
  const serving = (pages: object[], details: readonly object[] = []) => {
    let n = 0;
    return fakeUpstream('youtube', ({ at }) => ({
      body: at.pathname.endsWith('/videos') ? { items: details } : (pages[n++] ?? EMPTY),
    }));
  };
  const page = (items: readonly object[], nextPageToken?: string) => ({ items, nextPageToken });
  const paths = (upstream: ReturnType<typeof serving>) =>
    upstream.requests.map(({ at }) => at.pathname.split('/').at(-1));

  it('reads the details of all new videos of a page in one request', async () => {
    const upstream = serving(
      [page([1, 2, 3].map((n) => searchResult(n, SPEC_NOW)))],
      [1, 3].map((n) => videoResource(n, SPEC_NOW)),
    );
    const { items } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { known: (itemId) => itemId === videoId(2) }),
    );
    expect(paths(upstream)).toEqual(['search', 'videos']);
    expect(Object.fromEntries(upstream.requests[1]?.at.searchParams ?? [])).toEqual({
      part: 'snippet,contentDetails,statistics',
      id: `${videoId(1)},${videoId(3)}`,
      maxResults: '50',
      key: 's3cret-key',
    });
    expect(items.map(({ text }) => text.split('\n').length)).toEqual([3, 1, 3]);
  });

  it('does not request the details of known videos', async () => {
    const upstream = serving([page([searchResult(1, SPEC_NOW)])]);
    await connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { known: () => true }));
    expect(paths(upstream)).toEqual(['search']);
  });

  it('fails if the request for details fails, because the search shortens descriptions', async () => {
    const upstream = fakeUpstream('youtube', ({ at }) =>
      at.pathname.endsWith('/videos') ? { status: 503 } : { body: page([searchResult(1, SPEC_NOW)]) },
    );
    await expect(
      connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http)),
    ).rejects.toMatchObject({ kind: 'server_error' });
  });

  it('continues after one page without videos, but ends after two in a row', async () => {
    const upstream = serving([
      page([], 'b'),
      page([searchResult(1, SPEC_NOW)], 'c'),
      page([], 'd'),
      page([], 'e'),
      page([searchResult(2, SPEC_NOW)]),
    ]);
    const { items } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since }),
    );
    expect(items.length).toBe(1);
    expect(paths(upstream)).toEqual(['search', 'search', 'videos', 'search', 'search']);
  });

  it('returns a video only once, even if it is on two pages', async () => {
    const upstream = serving([page([searchResult(1, SPEC_NOW)], 'b'), page([searchResult(1, SPEC_NOW)])]);
    const { items } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since }),
    );
    expect(items.length).toBe(1);
  });

  it('reads at most five pages of each query, because Google allows a hundred of them a day', async () => {
    const upstream = serving(
      Array.from({ length: 9 }, (_, n) => page([searchResult(n, SPEC_NOW)], `token-${n}`)),
    );
    const { gap } = await connector.search(
      criteriaOf({ query: 'lamp' }),
      fakeContext(upstream.http, { since, pageCap: 10 }),
    );
    expect([gap, paths(upstream).filter((path) => path === 'search').length]).toEqual([true, 5]);
  });

  it('does not end at a known or an old video if the videos are not sorted by date', async () => {
    const old = new Date(since.getTime() - 3_600_000);
    const upstream = serving([page([searchResult(1, old)], 'b'), page([searchResult(2, SPEC_NOW)])]);
    const context = fakeContext(upstream.http, { since, known: () => true });
    const { items } = await connector.search(criteriaOf({ query: 'lamp', sort: 'relevance' }), context);
    expect(items.length).toBe(2);
  });
});
