import {
  SPEC_NOW,
  criteriaOf,
  fakeContext,
  fakeUpstream,
  type FakeAnswer,
} from '../testing/fake-upstream.js';
import { servePosts, status, statusUri } from './testing/fixtures.js';
import { quiet, read, withToken, withoutToken } from './testing/search.js';

describe('the instances of a search on Mastodon', () => {
  const filters = { instances: ['light.example', 'mastodon.social'] };

  it('are all read, and only the configured instance gets the token', async () => {
    const { fetched, requests } = await read(withToken(), { query: 'lamp', filters }, quiet);
    const seen = requests.map(({ at, headers }) => [at.host, headers?.['authorization'] !== undefined]);
    expect(seen).toContainEqual(['light.example', false]);
    expect(seen).toContainEqual(['mastodon.social', true]);
    expect(seen).not.toContainEqual(['light.example', true]);
    expect(fetched.warnings).toEqual(['mastodon: on light.example only hashtags are searched']);
    expect(withToken().requestsPerSearch(criteriaOf({ query: 'lamp', filters }))).toBe(3);
  });

  it('return a post only once, even if several instances show the post', async () => {
    const both = { instances: ['light.example', 'lamps.example'] };
    const { fetched } = await read(withToken(), { query: 'lamp', filters: both }, (_, host) => ({
      body: [status(1, SPEC_NOW, { id: host === 'light.example' ? '7' : '9' })],
    }));
    expect(fetched.items.map(({ itemId }) => itemId)).toEqual([statusUri(1)]);
  });

  it('are each read back to the last read, even if a page contains a known post', async () => {
    const since = new Date(SPEC_NOW.getTime() - 3_600_000);
    const posts = Array.from({ length: 100 }, (_, n) => ({
      n,
      at: new Date(SPEC_NOW.getTime() - n * 60_000),
    }));
    const upstream = fakeUpstream('mastodon', (request) => {
      if (request.at.pathname.endsWith('/public')) return { status: 422 };
      return request.at.host === 'light.example' ? servePosts(posts, request) : { body: [] };
    });
    const both = { instances: ['light.example', 'lamps.example'] };
    const context = fakeContext(upstream.http, { since, known: (itemId) => itemId === statusUri(0) });
    const { items, gap } = await withToken().search(criteriaOf({ query: 'lamp', filters: both }), context);
    expect([items.length, gap]).toEqual([80, false]);
  });

  it('are read further back after a failed read, with a gap if the page cap prevents this', async () => {
    const state = {};
    let isDown = true;
    const posts = Array.from({ length: 200 }, (_, n) => ({
      n,
      at: new Date(SPEC_NOW.getTime() + (60 - n) * 60_000),
    }));
    const upstream = fakeUpstream('mastodon', (request) => {
      if (request.at.pathname.endsWith('/public')) return { status: 422 };
      if (request.at.host !== 'light.example') return { body: [] };
      return isDown ? { status: 503 } : servePosts(posts, request);
    });
    const both = { instances: ['light.example', 'lamps.example'] };
    const read = (now: Date, since: Date, pageCap = 5) =>
      withToken().search(
        criteriaOf({ query: 'lamp', filters: both }),
        fakeContext(upstream.http, { now, since, state, pageCap }),
      );
    const hour = (n: number) => new Date(SPEC_NOW.getTime() + n * 3_600_000);
    await read(hour(0), hour(-1));
    isDown = false;
    // Each read begins five minutes before the last one.
    const { items, gap } = await read(hour(1), hour(-1 / 12));
    const from = hour(-1).toISOString();
    expect(items.filter(({ publishedAt = '' }) => publishedAt > from).length).toBe(120);
    expect([gap, (await read(hour(1), hour(-1 / 12), 3)).gap]).toEqual([false, true]);
  });

  it('cause a warning if one instance fails', async () => {
    const { fetched } = await read(withToken(), { query: 'lamp', filters }, (path, host) =>
      host === 'light.example' ? { status: 503 } : quiet(path),
    );
    expect(fetched.warnings).toEqual([
      'mastodon on light.example: mastodon answered 503: the upstream failed; Earshot tries again later',
    ]);
  });

  it('make the whole lane wait only if the configured instance asks Earshot to wait', async () => {
    const busy: FakeAnswer = { status: 429, headers: { 'retry-after': '90' } };
    const session = new Map<string, unknown>();
    const searchWithBusyHost = async (busyHost: string, query: string) => {
      const upstream = fakeUpstream('mastodon', ({ at }) =>
        at.host === busyHost ? busy : quiet(at.pathname),
      );
      const { warnings } = await withoutToken().search(
        criteriaOf({ query, filters }),
        fakeContext(upstream.http, { session }),
      );
      return { warnings, heldOff: upstream.heldOff, hosts: upstream.requests.map(({ at }) => at.host) };
    };
    const configuredBusy = await searchWithBusyHost('mastodon.social', 'lamp');
    const reason = 'mastodon answered 429: too many requests, asked to wait 90 s';
    expect(configuredBusy.heldOff).toEqual([{ waitMs: 90_000, reason }]);
    expect(configuredBusy.warnings).toContain(reason);
    expect((await searchWithBusyHost('light.example', 'lamp')).heldOff).toEqual([]);
    const afterwards = await searchWithBusyHost('none', 'desk');
    expect(new Set(afterwards.hosts)).toEqual(new Set(['mastodon.social']));
    expect(afterwards.warnings).toContain(
      'mastodon on light.example: it asked Earshot to wait; its next request is in 90 s',
    );
  });

  it('have a post rate that is measured once and then cached, for at most 500 instances', async () => {
    const session = new Map<string, unknown>();
    const connector = withoutToken();
    const since = new Date(SPEC_NOW.getTime() - 600_000);
    const upstream = fakeUpstream('mastodon', ({ at }) =>
      at.pathname.endsWith('/public') ? { status: 422 } : { body: [] },
    );
    const searchInstance = (n: number) =>
      connector.search(
        criteriaOf({ query: 'lamp', filters: { instances: `s${n}.example` } }),
        fakeContext(upstream.http, { session, since }),
      );
    for (let n = 0; n <= 500; n += 1) await searchInstance(n);
    const timelineRequests = () =>
      upstream.requests.filter(({ at }) => at.pathname.endsWith('/public')).length;
    expect([timelineRequests(), session.size <= 2]).toEqual([501, true]);
    await searchInstance(500);
    expect(timelineRequests()).toBe(501);
    await searchInstance(0);
    expect(timelineRequests()).toBe(502);
  });

  it('make only this search fail if they show posts only to their own accounts', async () => {
    const reading = read(withToken(), { query: 'lamp', filters: { instances: 'light.example' } }, () => ({
      status: 422,
    }));
    await expect(reading).rejects.toMatchObject({
      message:
        'mastodon on light.example: mastodon answered 422: the server shows its posts only to its own accounts; remove it from filters.instances',
      reach: 'search',
    });
  });
});
