import { create } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { UpstreamError, type UpstreamErrorKind } from '#sources';
import { metricsText } from '#telemetry';
import { Upstream } from '../testing/polling-under-test.js';
import { Lane, type LaneParts } from './lane.js';
import { NOTHING_LEARNED, type LaneMemory } from './lane-memory.js';

const REQUEST = { url: 'https://upstream.example.org/' };

function laneOn(upstream: Upstream, more: Partial<LaneParts> = {}): Lane {
  return new Lane({
    name: 'hackernews:0',
    connector: upstream.connector,
    baseUrl: undefined,
    http: upstream.http,
    lanes: 1,
    memory: NOTHING_LEARNED,
    remember: () => Promise.resolve(),
    ...more,
  });
}

/** Returns a clock whose time the spec sets. */
function clockAt(ms: number) {
  const clock = { ms, now: () => new Date(clock.ms) };
  return clock;
}

const faultOf = (kind: UpstreamErrorKind) => new UpstreamError(kind, kind);

describe('a lane whose searches fail', () => {
  it.each(['forbidden', 'truncated', 'unknown_shape'] as const)(
    'waits after three different searches in a row have failed with `%s`, but not after many failures of one search',
    async (kind) => {
      const lane = laneOn(new Upstream());
      const failed = (key: string) => lane.failed(faultOf(kind), key);
      for (const key of ['a', 'a', 'a', 'b']) expect(await failed(key)).toBeUndefined();
      await lane.succeeded();
      for (const key of ['c', 'd']) expect(await failed(key)).toBeUndefined();
      expect(lane.budget.blockedForMs).toBe(0);
      expect((await failed('e'))?.getTime()).toBeGreaterThan(Date.now());
      expect([lane.budget.blockedForMs > 0, lane.isProbing]).toEqual([true, true]);
    },
  );

  it('does not wait after three searches failed with `too_large`, `unexpected_status` and `forbidden`', async () => {
    const lane = laneOn(new Upstream());
    expect(await lane.failed(faultOf('too_large'), 'a')).toBeUndefined();
    expect(await lane.failed(faultOf('unexpected_status'), 'b')).toBeUndefined();
    expect(await lane.failed(faultOf('forbidden'), 'c')).toBeUndefined();
  });

  it('does not wait if only servers that the searches name have failed', async () => {
    const lane = laneOn(new Upstream());
    const fault = new UpstreamError('server_error', 'one server of many is down', 503, undefined, 'search');
    for (const key of ['a', 'b', 'c', 'd']) expect(await lane.failed(fault, key)).toBeUndefined();
    expect(lane.isProbing).toBe(false);
  });

  it('waits after one `server_error`, but not after `not_found` in four searches', async () => {
    const lane = laneOn(new Upstream());
    for (const key of ['a', 'b', 'c', 'd'])
      expect(await lane.failed(faultOf('not_found'), key)).toBeUndefined();
    expect(await lane.failed(faultOf('server_error'), 'a')).toBeInstanceOf(Date);
  });
});

describe('a stopped lane', () => {
  it('cancels requests that wait for its budget, and sends nothing', async () => {
    const upstream = new Upstream();
    upstream.requestsPerMinute = 1;
    const lane = laneOn(upstream);
    await lane.http.request(REQUEST);
    const waiting = lane.http.request(REQUEST);
    lane.stop();
    await expect(waiting).rejects.toMatchObject({ name: 'LaneBlocked' });
    await expect(lane.http.request(REQUEST)).rejects.toMatchObject({ name: 'LaneBlocked' });
    expect(upstream.requests.length).toBe(1);
  });
});

describe('a lane whose upstream asks for a wait in a successful response', () => {
  it('delays the next request if the wait is short, so that no check fails', async () => {
    const upstream = new Upstream();
    const lane = laneOn(upstream);
    const startedAt = Date.now();
    lane.http.holdOff({ waitMs: 50, reason: 'backoff' });
    expect([lane.budget.blockedForMs, lane.budget.heldForMs > 0]).toEqual([0, true]);
    await lane.http.request(REQUEST);
    // On some platforms timers fire a little early.
    expect((upstream.requests[0] ?? 0) - startedAt).toBeGreaterThanOrEqual(48);
  });

  it('sends no requests during a long wait, and the error states the reason', async () => {
    const upstream = new Upstream();
    const clock = clockAt(0);
    const lane = laneOn(upstream, { clock });
    lane.http.holdOff({ waitMs: 600_000, reason: 'its window is used up' });
    await expect(lane.http.request(REQUEST)).rejects.toMatchObject({ name: 'LaneBlocked' });
    expect([lane.budget.blockedForMs, lane.budget.blockedBy.message]).toEqual([
      600_000,
      'hackernews gets no requests at the moment: its window is used up',
    ]);
    expect(lane.isProbing).toBe(false);
    clock.ms = 600_000;
    await lane.http.request(REQUEST);
    expect(upstream.requests.length).toBe(1);
  });

  it('reads the wait from the headers if they state that no requests are left', async () => {
    const upstream = new Upstream();
    upstream.failure = {
      status: 200,
      headers: { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '900' },
    };
    const lane = laneOn(upstream, { clock: clockAt(0) });
    await lane.http.request(REQUEST);
    expect(lane.budget.blockedForMs).toBe(900_000);
  });
});

describe('a wait in the headers of a response', () => {
  const laneAnswered = async (
    status: number,
    headers: Record<string, string>,
    request: object = {},
    backoff: 'lane' | 'search' = 'lane',
  ) => {
    const upstream = new Upstream();
    upstream.failure = { status, headers };
    const { connector } = upstream;
    const lane = laneOn(upstream, {
      clock: clockAt(0),
      connector: { ...connector, budget: { ...connector.budget, backoff } },
    });
    await lane.http.request({ ...REQUEST, ...request }).catch(() => undefined);
    return lane;
  };

  it.each([429, 503])(
    'applies after status %i, even if the connector ignores the response',
    async (status) => {
      const lane = await laneAnswered(status, { 'retry-after': '600' });
      await lane.succeeded();
      expect([lane.budget.blockedForMs, lane.budget.blockedBy.message]).toEqual([
        600_000,
        `hackernews gets no requests at the moment: hackernews answered ${status} and asked to wait`,
      ]);
    },
  );

  it('does not make the lane wait if the server is `foreign` or the backoff of the source is `search`', async () => {
    const nothingLeft = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '86400' };
    expect((await laneAnswered(200, nothingLeft, { foreign: true })).budget.blockedForMs).toBe(0);
    expect((await laneAnswered(429, { 'retry-after': '600' }, { foreign: true })).budget.blockedForMs).toBe(
      0,
    );
    expect((await laneAnswered(429, { 'retry-after': '600' }, {}, 'search')).budget.blockedForMs).toBe(0);
    expect((await laneAnswered(200, nothingLeft)).budget.blockedForMs).toBe(86_400_000);
  });
});

describe('a lane with a daily quota', () => {
  const midnight = new Date(86_400_000);
  const quotas = { search: { points: 3, nextReset: () => midnight } };
  const quotaLane = (upstream: Upstream, more: Partial<LaneParts> = {}) => {
    const { connector } = upstream;
    const budget = { ...connector.budget, quotas };
    return laneOn(upstream, { connector: { ...connector, budget }, clock: clockAt(0), ...more });
  };
  const search = { ...REQUEST, spends: { quota: 'search', points: 2 } };

  it('sends the requests that the quota allows, reports when the quota is reset, and continues to send other requests', async () => {
    const upstream = new Upstream();
    const lane = quotaLane(upstream);
    await lane.http.request(search);
    await expect(lane.http.request(search)).rejects.toMatchObject({
      kind: 'quota_spent',
      retryAfterMs: 86_400_000,
    });
    await lane.http.request(REQUEST);
    expect([upstream.requests.length, lane.budget.blockedForMs]).toEqual([2, 0]);
  });

  it('treats a quota as used up after the upstream has said so, also on another replica', async () => {
    const upstream = new Upstream();
    let memory: LaneMemory = NOTHING_LEARNED;
    const remember = async (learned: LaneMemory) => void (memory = learned);
    quotaLane(upstream, { remember }).http.holdOff({ waitMs: 1_000, reason: 'used up', quota: 'search' });
    const next = quotaLane(upstream, { memory, clock: clockAt(999) });
    await expect(next.http.request(search)).rejects.toMatchObject({ kind: 'quota_spent', retryAfterMs: 1 });
    expect(upstream.requests).toEqual([]);
  });
});

describe('a lane whose feed is frozen', () => {
  const itemsOf = (itemId: string, publishedAt: string) => [create(ItemSchema, { itemId, publishedAt })];

  it('fails its reads until a new item appears, in the feed or in a search', async () => {
    const upstream = new Upstream();
    upstream.hasFeed = true;
    const clock = clockAt(0);
    const learned: LaneMemory[] = [];
    const lane = laneOn(upstream, { clock, remember: async (memory) => void learned.push(memory) });
    const read = async (at: number, itemId?: string) => {
      clock.ms = at;
      const items = itemId ? itemsOf(itemId, '1970-01-01T00:00:00.000Z') : [];
      const frozen = await lane.follow(items, clock.now(), clock.now());
      if (!frozen) await lane.succeeded();
      return frozen;
    };
    await read(0, 'a');
    for (let minute = 5; minute <= 60; minute += 5) await read(minute * 60_000);
    const frozen = {
      kind: 'frozen',
      message:
        'hackernews responds, but has shown nothing new for 1 h: its feed seems to be frozen; nothing is charged until a new item appears',
    };
    expect(await read(61 * 60_000)).toMatchObject(frozen);
    expect(learned.at(-1)?.trouble).toBe(frozen.message);
    expect(await lane.follow([], clock.now())).toMatchObject({ kind: 'frozen' });
    await lane.follow(itemsOf('b', '1970-01-01T00:59:00.000Z'), clock.now());
    await read(62 * 60_000, 'b');
    expect(learned.at(-1)?.trouble).toBe('');
  });
});

describe('the health of a lane', () => {
  it('is bad after a response that the connector cannot read, until a successful read, and states the reason', async () => {
    const learned: LaneMemory[] = [];
    const lane = laneOn(new Upstream(), { remember: async (memory) => void learned.push(memory) });
    await lane.failed(new UpstreamError('unknown_shape', 'its answer has changed'), 'a');
    await lane.failed(new UpstreamError('not_found', 'nothing there'), 'b');
    for (const key of ['c', 'd'])
      await lane.failed(new UpstreamError('unexpected_status', 'not understood', 400), key);
    expect(learned.at(-1)?.trouble).toBe('its answer has changed');
    await lane.failed(new UpstreamError('server_error', 'it is down'), 'a');
    expect(learned.at(-1)).toMatchObject({ trouble: 'it is down', failures: 1, lastSuccessAt: undefined });
    await lane.succeeded();
    expect(learned.at(-1)).toMatchObject({ trouble: '', failures: 0 });
    expect(learned.at(-1)?.lastSuccessAt).toBeInstanceOf(Date);
  });

  it('is bad while the clocks of the machine and of the upstream differ by more than a quarter of an hour', async () => {
    const learned: LaneMemory[] = [];
    const upstream = new Upstream();
    const lane = laneOn(upstream, { remember: async (memory) => void learned.push(memory) });
    const read = async (aheadMs: number) => {
      upstream.date = () => new Date(Date.now() + aheadMs);
      await lane.http.request(REQUEST);
      await lane.succeeded();
    };
    await read(-20 * 60_000);
    await read(-20 * 60_000);
    expect(learned.map(({ trouble }) => trouble)).toEqual([
      'the clocks of this machine and of hackernews differ by 20 min (this machine is ahead): new items can be missed; check the clock of this machine',
    ]);
    await read(0);
    expect(learned.map(({ trouble }) => trouble).at(-1)).toBe('');
  });

  it('is bad only after three different searches in a row have failed, if each search has its own upstream', async () => {
    let trouble = '';
    let tick = 0;
    const upstream = new Upstream();
    const { connector } = upstream;
    const lane = laneOn(upstream, {
      connector: { ...connector, budget: { ...connector.budget, backoff: 'search' } },
      remember: async (memory) => void (trouble = memory.trouble),
      clock: { now: () => new Date((tick += 10_000)) },
    });
    for (const key of ['a', 'a', 'a', 'b']) await lane.failed(faultOf('server_error'), key);
    expect(trouble).toBe('');
    await lane.failed(faultOf('server_error'), 'c');
    expect(trouble).toBe(
      '3 searches in a row could not be read (the last one: server_error); the activity of their watches shows why',
    );
  });
});

describe('the metrics of a lane', () => {
  const published = async (name: string) =>
    (await metricsText()).split('\n').filter((line) => line.includes(`lane="${name}"`)).length;

  it('are not reported after the lane has stopped, even if a search fails after the stop', async () => {
    const lane = laneOn(new Upstream(), { name: 'hackernews:7' });
    expect(await published('hackernews:7')).toBe(2);
    lane.stop();
    expect(await published('hackernews:7')).toBe(0);
    await lane.failed(faultOf('server_error'), 'a');
    expect(await published('hackernews:7')).toBe(0);
  });
});
