import { describeConnector } from '../testing/connector-contract.js';
import { SPEC_NOW, criteriaOf, fakeContext, fakeUpstream } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createTiktokConnector } from './index.js';
import {
  answerJson,
  requestBodyOf,
  serveSignIn,
  serveVideos,
  videoId,
  videoJson,
} from './testing/fixtures.js';

const settings = { clientId: 'key', clientSecret: 's3cret' };
const connector = createTiktokConnector(settings);
const DAY_MS = 86_400_000;

describeConnector('tiktok', {
  create: () => createTiktokConnector(settings),
  criteria: criteriaOf({ query: 'lamp' }),
  serve: serveVideos,
  signIn: serveSignIn,
  pageSize: 100,
  itemIdOf: videoId,
  changedShapes: [
    {},
    [],
    { data: { videos: [], has_more: false } },
    { error: { code: 'ok' } },
    { data: {}, error: { code: 'ok' } },
    { data: { videos: {}, has_more: false }, error: { code: 'ok' } },
    { data: { videos: [] }, error: { code: 'ok' } },
    { data: { videos: [], has_more: true }, error: { code: 'ok' } },
    answerJson([videoJson(1, SPEC_NOW, { id: '"lamp"' })]),
    answerJson([videoJson(1, SPEC_NOW, { create_time: '"today"' })]),
    answerJson([videoJson(1, SPEC_NOW, { video_description: '{}' })]),
  ],
});

async function asked(init: Parameters<typeof criteriaOf>[0], more: Partial<FetchContext> = {}) {
  const upstream = fakeUpstream('tiktok', (request) => serveSignIn(request) ?? { body: answerJson([]) });
  const fetched = await connector.search(criteriaOf(init), fakeContext(upstream.http, more));
  return { fetched, requests: upstream.requests.slice(1) };
}

describe('the request to TikTok', () => {
  it('is a query of the Research API, with a token and a deadline of a minute', async () => {
    const [request] = (await asked({ query: 'lamp' })).requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://open.tiktokapis.com/v2/research/video/query/?fields=id,video_description,create_time,region_code,share_count,view_count,like_count,comment_count,music_id,hashtag_names,username,voice_to_text,video_duration',
      headers: { authorization: 'Bearer clt.token-1', 'content-type': 'application/json' },
      deadlineMs: 60_000,
    });
    expect(JSON.parse(String(request?.body))).toEqual({
      query: { and: [{ operation: 'EQ', field_name: 'keyword', field_values: ['lamp'] }] },
      start_date: '20260301',
      end_date: '20260304',
      max_count: 100,
    });
  });

  const keyword = (word: string) => ({ operation: 'EQ', field_name: 'keyword', field_values: [word] });
  const eq = (field_name: string, value: string) => ({ operation: 'EQ', field_name, field_values: [value] });
  it.each([
    [
      { query: 'led', terms: ['lamp', 'desk light'] },
      { and: [keyword('led')], or: [keyword('lamp'), keyword('desk light')] },
    ],
    [{ terms: ['lamp', 'light'] }, { or: [keyword('lamp'), keyword('light')] }],
    [{ query: 'led', terms: ['lamp'] }, { and: [keyword('led'), keyword('lamp')] }],
    [{ query: 'lamp', market: 'uk' }, { and: [keyword('lamp'), eq('region_code', 'GB')] }],
    [
      { query: 'lamp', market: 'de', filters: { region_code: ['at', 'CH'] } },
      {
        and: [keyword('lamp'), { operation: 'IN', field_name: 'region_code', field_values: ['AT', 'CH'] }],
      },
    ],
    [
      { market: 'global', filters: { username: '@ada.lamps', hashtag: ['#lamp', 'light'] } },
      {
        and: [
          eq('username', 'ada.lamps'),
          { operation: 'IN', field_name: 'hashtag_name', field_values: ['lamp', 'light'] },
        ],
      },
    ],
  ])('is one query for the search %j', async (init, query) => {
    const { requests } = await asked(init);
    expect(requests.map(requestBodyOf)).toMatchObject([{ query }]);
    expect(connector.requestsPerSearch(criteriaOf(init))).toBe(1);
  });

  it.each([
    [{}, 'query', 'a search on tiktok needs a query, terms, filters.username or filters.hashtag'],
    [{ query: 'x', sort: 'likes' }, 'sort', 'tiktok has no sort orders: the newest items come first'],
    [
      { query: 'x', filters: { username: 7 } },
      'filters.username',
      'must be the name of an account, or a list of names',
    ],
    [
      { query: 'x', filters: { hashtag: 'two words' } },
      'filters.hashtag',
      'must be a hashtag, or a list of them; "two words" is not valid',
    ],
    [
      { query: 'x', filters: { region_code: ['DE', 'Germany'] } },
      'filters.region_code',
      'must be a country code such as "DE", or a list of them; "Germany" is not valid',
    ],
  ])('is not sent for the criteria %j, which are refused at %s: %s', (init, path, message) => {
    expect(connector.checkCriteria(criteriaOf(init))).toEqual([{ path, message }]);
  });
});

describe('the days of a request to TikTok', () => {
  const ago = (days: number) => new Date(SPEC_NOW.getTime() - days * DAY_MS);
  const days = async (since: Date) => {
    const { fetched, requests } = await asked({ query: 'lamp' }, { since });
    const { start_date, end_date } = requestBodyOf(requests[0] ?? ({} as never));
    return {
      days: `${String(start_date)}-${String(end_date)}`,
      gap: fetched.gap,
      warnings: fetched.warnings,
    };
  };

  it('begin three days before the last read, because videos enter the search of TikTok late', async () => {
    expect(await days(ago(1))).toEqual({ days: '20260228-20260304', gap: false, warnings: [] });
  });

  it('are at most thirty days apart, and an earlier period is reported as a gap', async () => {
    expect(await days(ago(29))).toMatchObject({ days: '20260202-20260304', gap: false });
    expect(await days(ago(40))).toEqual({
      days: '20260202-20260304',
      gap: true,
      warnings: ['Earshot asks tiktok only for the last 30 days; older videos are missing'],
    });
  });
});

describe('a read of TikTok', () => {
  const since = new Date(SPEC_NOW.getTime() - DAY_MS);
  type Answers = readonly (string | { status: number; body: object })[];
  const serving = (answers: Answers) => {
    let n = 0;
    return fakeUpstream('tiktok', (request) => {
      const signIn = serveSignIn(request);
      if (signIn) return signIn;
      const answer = answers[n++] ?? answerJson([]);
      return typeof answer === 'string' ? { body: answer } : answer;
    });
  };
  const page = (ns: readonly number[], cursor?: number) =>
    answerJson(
      ns.map((n) => videoJson(n, SPEC_NOW)),
      cursor === undefined ? {} : { cursor: String(cursor), has_more: 'true', search_id: '"72013885"' },
    );
  const read = (upstream: ReturnType<typeof serving>, more: Partial<FetchContext> = {}) =>
    connector.search(criteriaOf({ query: 'lamp' }), fakeContext(upstream.http, { since, ...more }));
  const places = (upstream: ReturnType<typeof serving>) =>
    upstream.requests.slice(1).map((request) => {
      const { cursor, search_id } = requestBodyOf(request);
      return [cursor, search_id];
    });

  it('continues while `has_more` is true, even if pages are short or empty', async () => {
    const upstream = serving([page([1], 100), page([], 200), page([2])]);
    const { items, gap } = await read(upstream);
    expect([items.map(({ itemId }) => itemId), gap]).toEqual([[videoId(1), videoId(2)], false]);
    expect(places(upstream)).toEqual([
      [undefined, undefined],
      [100, '72013885'],
      [200, '72013885'],
    ]);
  });

  it('keeps all digits of a search id that is a large number', async () => {
    const more = { cursor: '100', has_more: 'true', search_id: '7354367454467855403' };
    const upstream = serving([answerJson([videoJson(1, SPEC_NOW)], more), page([2])]);
    await read(upstream);
    expect(places(upstream)[1]).toEqual([100, '7354367454467855403']);
  });

  const lost = {
    status: 400,
    body: { error: { code: 'invalid_params', message: 'Search Id 72013885 is invalid or expired' } },
  };
  it('starts again at the first page, but only once, if TikTok has lost the search', async () => {
    const upstream = serving([page([1], 100), lost, page([1], 100), page([2])]);
    const { items } = await read(upstream);
    expect(items.map(({ itemId }) => itemId)).toEqual([videoId(1), videoId(2)]);
    expect(places(upstream).map(([cursor]) => cursor)).toEqual([undefined, 100, undefined, 100]);
  });

  it('fails if TikTok loses the search a second time, or does not understand the first request', async () => {
    const again = serving([page([1], 100), lost, page([1], 100), lost]);
    await expect(read(again)).rejects.toMatchObject({ kind: 'unexpected_status', statusCode: 400 });
    const first = serving([lost]);
    await expect(read(first)).rejects.toMatchObject({
      message:
        'tiktok answered 400: the request was not understood; check the words and filters of the search',
    });
    expect(first.requests.length).toBe(2);
  });

  it('ends with a gap if the cursor of the next page is the cursor of the page that was just read', async () => {
    const upstream = serving([page([1], 100), page([2], 100)]);
    const { gap, warnings } = await read(upstream);
    expect([gap, warnings]).toEqual([true, ['tiktok reported a further page without its cursor']]);
  });

  it('reads all pages every six hours, because late videos can be on pages after known videos', async () => {
    const known = (itemId: string) => itemId === videoId(1);
    const hoursAgo = (hours: number) => new Date(SPEC_NOW.getTime() - hours * 3_600_000).toISOString();
    const pages = () => serving([page([1], 100), page([2], 200), page([3])]);

    const soon = { history: { allReadAt: hoursAgo(5.9) } };
    expect((await read(pages(), { known, state: soon })).items.length).toBe(1);
    expect(soon).toEqual({ history: { allReadAt: hoursAgo(5.9) } });

    const due = { history: { allReadAt: hoursAgo(6) } };
    expect((await read(pages(), { known, state: due })).items.length).toBe(3);
    expect(due).toEqual({ history: { allReadAt: SPEC_NOW.toISOString() } });
  });

  it('counts the six hours from the first poll', async () => {
    const state = {};
    await read(serving([]), { since: undefined, state });
    expect(state).toEqual({ history: { allReadAt: SPEC_NOW.toISOString() } });
  });

  it('reads all pages every six hours, even if a watch with a longer interval also reads the search', async () => {
    const known = (itemId: string) => itemId === videoId(1);
    let state: Record<string, unknown> = {};
    const found: number[] = [];
    // One watch reads every two hours, and another every four hours. When the second watch reads, everything in the
    // state except the history is removed.
    for (let hours = 0; hours <= 12; hours += 2) {
      const { history } = state;
      if (hours % 4 === 0) state = history === undefined ? {} : { history };
      const now = new Date(SPEC_NOW.getTime() + hours * 3_600_000);
      const since = hours === 0 ? undefined : new Date(now.getTime() - 2 * 3_600_000);
      const upstream = serving([page([1], 100), page([2], 200), page([3])]);
      found.push((await read(upstream, { known, state, now, since })).items.length);
    }
    expect(found).toEqual([1, 1, 1, 3, 1, 1, 3]);
  });

  it('reports no gap if it ends at the page cap after reading all new videos', async () => {
    const state = { history: { allReadAt: '2026-03-01T00:00:00.000Z' } };
    const { gap, warnings } = await read(serving([page([1], 100), page([2], 200)]), {
      state,
      pageCap: 2,
      known: (itemId) => itemId === videoId(2),
    });
    expect([gap, warnings]).toEqual([
      false,
      ['tiktok: videos that entered its search late were searched on 2 pages only'],
    ]);
    const more = { state: { history: { allReadAt: '2026-03-01T00:00:00.000Z' } }, pageCap: 2 };
    expect((await read(serving([page([1], 100), page([2], 200)]), more)).gap).toBe(true);
  });
});
