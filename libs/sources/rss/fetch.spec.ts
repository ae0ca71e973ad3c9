import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../testing/fake-upstream.js';
import { fakeOnly } from '#testing';
import type { FetchContext, UpstreamError, UpstreamHttp, UpstreamRequest } from '../source.js';
import { createRssConnector } from './index.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';

const connector = createRssConnector();
const feed = rss(rssItems([{ n: 1, at: SPEC_NOW }]));
const OTHER_URL = 'https://other.example/feed';

// Several checks in a row, which share state and session.
function checks(answer: (request: FakeRequest) => FakeAnswer, feed_urls: string[] = [FEED_URL]) {
  const upstream = fakeUpstream('rss', answer);
  const session = new Map<string, unknown>();
  let state: Record<string, unknown> = {};
  const check = async (more: Partial<FetchContext> = {}) => {
    const next = structuredClone(state);
    const context = fakeContext(upstream.http, { state: next, session, ...more });
    const fetched = await connector.search(criteriaOf({ filters: { feed_urls } }), context);
    state = JSON.parse(JSON.stringify(next)) as Record<string, unknown>;
    return fetched;
  };
  return { check, requests: upstream.requests };
}

describe('reading a feed', () => {
  it('sends the accepted formats, and follows redirects', async () => {
    const { check, requests } = checks(() => ({ body: feed }));
    await check();
    expect(requests[0]).toMatchObject({ method: 'GET', url: FEED_URL, redirects: 'follow' });
    expect(requests[0]?.headers?.['accept']).toContain('application/rss+xml');
  });

  it('marks its requests as `foreign`, so that `Retry-After` of one feed does not stop the requests to other feeds', async () => {
    const foreign: unknown[] = [];
    const before = (request: UpstreamRequest) => Promise.resolve(void foreign.push(request.foreign));
    const upstream = fakeUpstream('rss', () => ({ body: feed }), {
      budget: () => ({ before, after: () => undefined }),
    });
    const criteria = criteriaOf({ filters: { feed_urls: [FEED_URL] } });
    await connector.search(criteria, fakeContext(upstream.http));
    expect(foreign).toEqual([true]);
  });

  it('sends the ETag and the date of the last response, so that the server can answer 304', async () => {
    const validators = { etag: 'W/"1"', 'last-modified': 'Wed, 04 Mar 2026 11:00:00 GMT' };
    const { check, requests } = checks((request) =>
      request.headers?.['if-none-match'] === 'W/"1"' ? { status: 304 } : { body: feed, headers: validators },
    );
    expect((await check()).items.length).toBe(1);
    expect(await check()).toEqual({ items: [], gap: false, warnings: [] });
    await check();
    expect(
      requests.map(({ headers }) => [headers?.['if-none-match'], headers?.['if-modified-since']]),
    ).toEqual([
      [undefined, undefined],
      ['W/"1"', 'Wed, 04 Mar 2026 11:00:00 GMT'],
      ['W/"1"', 'Wed, 04 Mar 2026 11:00:00 GMT'],
    ]);
  });

  it('requests a moved feed at its new address, and returns to the old one if the new one fails', async () => {
    const moved = 'https://new.example/feed';
    let alive = true;
    const { check, requests } = checks((request) => {
      if (request.url === FEED_URL && alive) return { body: feed, url: moved, movedTo: moved };
      if (request.url === moved && alive) return { body: feed };
      return request.url === moved ? { status: 404 } : { body: feed };
    });
    const first = await check();
    const second = await check();
    expect(second.items.map(({ itemId }) => itemId)).toEqual(first.items.map(({ itemId }) => itemId));
    alive = false;
    await check();
    await check();
    expect(requests.map(({ url }) => url)).toEqual([FEED_URL, moved, moved, FEED_URL, FEED_URL]);
  });

  it('does not request a feed for a day after the response 410', async () => {
    const { check, requests } = checks(() => ({ status: 410 }));
    const inHours = (hours: number) => ({ now: new Date(SPEC_NOW.getTime() + hours * 3_600_000) });
    await expect(check()).rejects.toMatchObject({ kind: 'gone', statusCode: 410 });
    await expect(check()).rejects.toMatchObject({
      kind: 'gone',
      message: `${FEED_URL}: the feed answered 410 (gone); Earshot requests it again after a day`,
    });
    await expect(check(inHours(23))).rejects.toMatchObject({ kind: 'gone' });
    expect(requests.length).toBe(1);
    await expect(check(inHours(24))).rejects.toMatchObject({ kind: 'gone' });
    await expect(check(inHours(47))).rejects.toMatchObject({ kind: 'gone' });
    expect(requests.length).toBe(2);
  });

  it('reads the other feeds if one fails, and reports the failed feed', async () => {
    const { check } = checks(
      ({ url }) => (url === OTHER_URL ? { status: 404 } : { body: feed }),
      [FEED_URL, OTHER_URL],
    );
    const { items, warnings } = await check();
    expect(items.length).toBe(1);
    expect(warnings).toEqual([
      `${OTHER_URL}: rss answered 404: this address does not exist; check the names and addresses in the search`,
    ]);
  });

  it('reports, with the entries of a feed that works again, how long the feed has failed', async () => {
    let down = false;
    const { check, requests } = checks(
      ({ url }) => (url === OTHER_URL && down ? { status: 503 } : { body: feed, headers: { etag: '"1"' } }),
      [FEED_URL, OTHER_URL],
    );
    const at = (minutes: number) => ({ now: new Date(SPEC_NOW.getTime() + minutes * 60_000) });
    expect((await check(at(0))).outages).toBeUndefined();
    down = true;
    await check(at(1));
    await check(at(2));
    down = false;
    requests.length = 0;
    const { items, outages } = await check(at(3));
    expect(requests.map(({ url, headers }) => [url, headers?.['if-none-match']])).toEqual([
      [FEED_URL, '"1"'],
      [OTHER_URL, '"1"'],
    ]);
    const [first, second] = items.map(({ itemId }) => outages?.get(itemId));
    expect([first, second].filter((outage) => outage !== undefined)).toEqual([
      { from: at(1).now, until: at(3).now },
    ]);
    const again = (await check(at(4))).outages;
    expect([...(again?.values() ?? [])]).toEqual([{ from: at(1).now, until: at(3).now }]);
  });

  it('fails if all feeds fail, and its error contains the `Retry-After` of the one feed that sent it', async () => {
    const { check } = checks(
      ({ url }) => (url === OTHER_URL ? { status: 429, headers: { 'retry-after': '60' } } : { status: 503 }),
      [FEED_URL, OTHER_URL],
    );
    const fault = await check().catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'server_error', statusCode: 503, retryAfterMs: 60_000 });
    expect(String(fault)).toContain('none of the 2 feeds could be read');
    expect(String(fault)).toContain(`${OTHER_URL}: rss answered 429`);
  });

  describe('for several searches', () => {
    const HOST = 'https://shared.example';
    const [A, B, C] = [`${HOST}/a`, `${HOST}/b`, `${HOST}/c`];
    const at = (seconds: number) => new Date(SPEC_NOW.getTime() + seconds * 1000);

    /** Searches of several accounts in one process. */
    function searches(answer: (request: FakeRequest) => FakeAnswer) {
      const upstream = fakeUpstream('rss', answer);
      const session = new Map<string, unknown>();
      const search = async (feed_urls: string[], more: Partial<FetchContext> = {}) => {
        const context = fakeContext(upstream.http, { session, intervalSeconds: 2, ...more });
        const fetched = await connector
          .search(criteriaOf({ filters: { feed_urls } }), context)
          .catch((error: unknown) => error as UpstreamError);
        return { fetched, state: context.state };
      };
      return { search, requests: upstream.requests, asked: () => upstream.requests.map(({ url }) => url) };
    }
    afterEach(() => void jest.useRealTimers());

    it('requests no feed of a server, in any search, until `Retry-After` has passed', async () => {
      jest.useFakeTimers(fakeOnly('performance'));
      const { search, asked } = searches(({ url }) =>
        url === A ? { status: 429, headers: { 'retry-after': '10' } } : { body: feed },
      );
      await search([A, OTHER_URL]);
      expect(asked()).toEqual([A, OTHER_URL]);
      for (let seconds = 2; seconds < 10; seconds += 2) {
        jest.advanceTimersByTime(2_000);
        await search([A, OTHER_URL], { now: at(seconds) });
        const other = await search([B, C], { now: at(seconds) });
        expect(other.fetched).toMatchObject({ kind: 'rate_limited', retryAfterMs: 10_000 - seconds * 1000 });
      }
      expect(new Set(asked().slice(2))).toEqual(new Set([OTHER_URL]));
      jest.advanceTimersByTime(2_001);
      await search([B], { now: at(11) });
      expect(asked().at(-1)).toBe(B);
    });

    it('returns the entries of an unchanged feed (304) from memory to a search that reads the feed for the first time', async () => {
      const { search, requests } = searches((request) =>
        request.headers?.['if-none-match'] === '"1"'
          ? { status: 304 }
          : { body: feed, headers: { etag: '"1"' } },
      );
      const first = await search([A]);
      const second = await search([A], { now: at(60) });
      expect(requests.map(({ headers }) => headers?.['if-none-match'])).toEqual([undefined, '"1"']);
      expect(second.fetched).toEqual(first.fetched);
      const third = await search([A], { now: at(120), state: structuredClone(second.state) });
      expect(third.fetched).toMatchObject({ items: [] });
    });

    it('requests a failing feed less and less often, and the other feeds of the same server as often as before', async () => {
      const { search, asked } = searches(({ url }) => (url === A ? { status: 500 } : { body: feed }));
      for (let seconds = 0; seconds < 60; seconds += 1) await search([A, B], { now: at(seconds) });
      expect(asked().filter((url) => url === A).length).toBe(4);
      expect(asked().filter((url) => url === B).length).toBe(60);
    });

    it('sends one server at most four requests at the same time', async () => {
      let [underWay, max] = [0, 0];
      const urls = Array.from({ length: 20 }, (_, n) => `${HOST}/${n}`);
      const { http } = fakeUpstream('rss', () => ({ body: feed }));
      const counting = {
        ...http,
        request: async (request: UpstreamRequest) => {
          max = Math.max(max, (underWay += 1));
          await new Promise((resolve) => setImmediate(resolve));
          underWay -= 1;
          return http.request(request);
        },
      };
      const fetched = await connector.search(
        criteriaOf({ filters: { feed_urls: urls } }),
        fakeContext(counting as UpstreamHttp),
      );
      expect([fetched.items.length, fetched.warnings, max]).toEqual([20, [], 4]);
    });

    it.each([
      ['Cache-Control', { 'cache-control': 'public, max-age=300' }, feed],
      ['<ttl>', {}, feed.replace('<channel>', '<channel><ttl>5</ttl>')],
    ])(
      'reads a feed again only after the wait of %s, with a warning, if the interval of the search is longer than this wait',
      async (_, headers, body) => {
        const { search, requests } = searches(() => ({ body, headers }));
        const since = SPEC_NOW;
        await search([A], { intervalSeconds: 60 });
        const { fetched } = await search([A], { now: at(200), intervalSeconds: 3_600, since });
        expect(requests.length).toBe(1);
        expect(fetched).toMatchObject({
          items: [{}],
          warnings: [
            `${A}: read 200 s ago and not read again now; the feed asks to be read only every 300 s`,
          ],
        });
        await search([A], { now: at(301), intervalSeconds: 3_600, since });
        expect(requests.length).toBe(2);
      },
    );

    it('requests a feed for the first poll of a search, even if another search has read it and the publisher asks to wait', async () => {
      const { search, requests } = searches(() => ({
        body: feed,
        headers: { 'cache-control': 'max-age=300' },
      }));
      await search([A], { intervalSeconds: 60, since: SPEC_NOW });
      await search([A], { now: at(200), intervalSeconds: 3_600 });
      expect(requests.length).toBe(2);
    });

    it('requests a feed as often as the search needs it, with a warning if the publisher asks for a longer wait', async () => {
      const headers = { 'cache-control': 'max-age=3600' };
      const { search, requests } = searches(() => ({ body: feed, headers }));
      for (const seconds of [0, 60, 120]) {
        const { fetched } = await search([A], { now: at(seconds), intervalSeconds: 60 });
        expect(fetched).toMatchObject({
          warnings: [
            `${A}: read every 60 s, the shortest interval of all watches of this search, although the feed asks to be read only every 3600 s`,
          ],
        });
      }
      expect(requests.length).toBe(3);
    });
  });

  it('does not show the query of an address in the error, because the query can contain a key', async () => {
    const { check } = checks(() => ({ status: 403 }), [`${OTHER_URL}?key=s3cret`]);
    await expect(check()).rejects.toMatchObject({ message: expect.not.stringContaining('s3cret') as string });
  });

  it('reports a gap if each entry of a busy feed is newer than the last read', async () => {
    const posts = Array.from({ length: 12 }, (_, n) => ({
      n,
      at: new Date(SPEC_NOW.getTime() - n * 60_000),
    }));
    const { check } = checks(() => ({ body: rss(rssItems(posts)) }));
    const gapAfter = async (minutes: number) =>
      (await check({ since: new Date(SPEC_NOW.getTime() - minutes * 60_000) })).gap;
    expect([await gapAfter(60), await gapAfter(5)]).toEqual([true, false]);
  });
});
