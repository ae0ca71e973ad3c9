import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
  type FakeRequest,
} from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import { createRssConnector } from './index.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';

const connector = createRssConnector();
const feed = rss(rssItems([{ n: 1, at: SPEC_NOW }]));
const at = (seconds: number) => new Date(SPEC_NOW.getTime() + seconds * 1000);

/** Searches of one feed in one process. */
function searches(answer: (request: FakeRequest) => FakeAnswer) {
  const upstream = fakeUpstream('rss', answer);
  const session = new Map<string, unknown>();
  /** Starts a batch: a function that reads one search, and the results that all its searches share. */
  const batch = () => {
    const results = new Map<string, Promise<unknown>>();
    const shared = <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const reading = (results.get(key) as Promise<T> | undefined) ?? read();
      results.set(key, reading);
      return reading;
    };
    const search = (state: Record<string, unknown> = {}, more: Partial<FetchContext> = {}) =>
      connector.search(
        criteriaOf({ filters: { feed_urls: [FEED_URL] } }),
        fakeContext(upstream.http, { shared, session, state, ...more }),
      );
    return { search, results };
  };
  return { batch, session, requests: upstream.requests };
}

describe('the requests of a batch of searches for one feed', () => {
  it('are one request for all searches that have seen the same version', async () => {
    const { batch, requests } = searches(() => ({ body: feed, headers: { etag: '"2"' } }));
    const { search } = batch();
    const seen = (etag?: string) => (etag === undefined ? {} : { feeds: { [FEED_URL]: { etag } } });
    const states = [seen('"1"'), seen('"1"'), seen()];
    const found = await Promise.all(states.map((state) => search(state)));
    expect(requests.map(({ headers }) => headers?.['if-none-match'])).toEqual(['"1"', undefined]);
    expect(found.map(({ items }) => items.length)).toEqual([1, 1, 1]);
    expect(states).toEqual([seen('"2"'), seen('"2"'), seen('"2"')]);
  });

  it.each([
    ['forbids caching', () => ({ body: feed, headers: { 'cache-control': 'no-store' } })],
    [
      'answers that the feed has not changed',
      ({ headers }: FakeRequest) =>
        headers?.['if-none-match'] === '"1"' ? { status: 304 } : { body: feed, headers: { etag: '"1"' } },
    ],
  ])('are one request, even if the server %s and the searches are read 40 s apart', async (_, answer) => {
    const { batch, requests } = searches(answer);
    await batch().search({}, { now: at(-3600) });
    requests.length = 0;
    const { search } = batch();
    const states = [{}, {}, {}];
    const found: number[] = [];
    for (const [n, state] of states.entries()) {
      const more = { now: at(n * 40), since: at(-900), intervalSeconds: 900 };
      found.push((await search(state, more)).items.length);
    }
    expect([requests.length, found]).toEqual([1, [1, 1, 1]]);
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
  });

  it('do not keep the entries in memory until the last search of the batch is read', async () => {
    const large = feed.replaceAll('</description>', `${'lamp '.repeat(10_000)}</description>`);
    const { batch } = searches(() => ({ body: large }));
    const { search, results } = batch();
    const { items } = await search();
    expect(items[0]?.text.length).toBeGreaterThan(40_000);
    const kept = await Promise.all(results.values());
    expect(kept.length).toBe(1);
    expect(serialize(kept).byteLength).toBeLessThan(1_000);
  });

  it('are repeated for each search if the cache has no space for the feed', async () => {
    const { batch, session, requests } = searches(() => ({ body: feed, headers: { etag: '"1"' } }));
    session.set('rss.answers', new LRUCache({ maxSize: 1, sizeCalculation: () => 2 }));
    const { search } = batch();
    const states = [{}, {}];
    const found = [await search(states[0]), await search(states[1])];
    expect(found.map(({ items }) => items.length)).toEqual([1, 1]);
    expect(states[1]).toEqual(states[0]);
    expect(requests.length).toBe(2);
  });
});
