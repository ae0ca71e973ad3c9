import { fakeOnly } from '#testing';
import { criteriaOf, fakeContext, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import {
  hostOf,
  hostOfSetting,
  instanceFaults,
  instancesOf,
  namedInstances,
  readInstances,
} from './instances.js';
import { createLemmyConnector } from '../lemmy/connector.js';
import { createMastodonConnector } from '../mastodon/connector.js';
import { sessionCache } from './session-cache.js';
import { UpstreamError, type Fetched } from '../source.js';

const WANTED = 'must be a list of 1 to 5 servers, for example "lamps.example"';

describe('the servers in a search', () => {
  it.each([
    ['lamps.example', 'lamps.example'],
    ['https://Lamps.Example/', 'lamps.example'],
    ['sub.lamps.example', 'sub.lamps.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['lamps.example:8080', undefined],
    ['lamps.example/about', undefined],
    ['user@lamps.example', undefined],
    ['localhost', undefined],
    ['127.0.0.1', undefined],
    ['127.1', undefined],
    ['[::1]', undefined],
    ['a b.example', undefined],
    ['', undefined],
  ])('are read from the text %j as the host %j', (text, host) => {
    expect(hostOf(text)).toBe(host);
  });

  it('are listed without duplicates', () => {
    const instances = ['Lamps.example', 'https://lamps.example', 'light.example'];
    expect(instancesOf(criteriaOf({ filters: { instances } }))).toEqual(['lamps.example', 'light.example']);
    expect(instancesOf(criteriaOf({}))).toEqual([]);
  });

  it.each([
    createLemmyConnector({ instance: 'own.example', token: '' }),
    createMastodonConnector({ instance: 'own.example', token: '' }),
  ])('are reported by $id as named servers, except the configured server', ({ namedServers }) => {
    const criteria = criteriaOf({ filters: { instances: ['own.example', 'slow.example'] } });
    expect(namedServers?.(criteria)).toEqual(namedInstances(criteria, 'own.example'));
    expect(namedServers?.(criteria)).toEqual([{ path: 'filters.instances', url: 'https://slow.example/' }]);
  });

  it.each([
    [undefined, undefined],
    ['lamps.example', undefined],
    [7, WANTED],
    [[], WANTED],
    [['lamps.example', 'localhost'], `${WANTED}; "localhost" is not valid`],
    [
      ['a.example', 'b.example', 'c.example', 'd.example', 'e.example', 'f.example'],
      'must have at most 5 values',
    ],
  ])('have, for the value %j, the fault %j', (instances, message) => {
    const faults = message === undefined ? [] : [{ path: 'filters.instances', message }];
    const criteria = criteriaOf(instances === undefined ? {} : { filters: { instances } });
    expect(instanceFaults(criteria, 'lamps.example')).toEqual(faults);
  });
});

it('the configured server is the one that the setting names, or the default server if the setting is empty', () => {
  expect(hostOfSetting('SOURCE_X', ' https://light.example/ ', 'lamps.example')).toBe('light.example');
  expect(hostOfSetting('SOURCE_X', '', 'lamps.example')).toBe('lamps.example');
  expect(() => hostOfSetting('SOURCE_X', 'http://localhost:1', 'lamps.example')).toThrow(
    'SOURCE_X must be the name of a server, for example lamps.example',
  );
});

describe('reading several servers:', () => {
  const nothing: Fetched = { items: [], gap: false, warnings: [] };
  const failing = (host: string, waitMs?: number) =>
    new UpstreamError('server_error', `lemmy answered 500 (${host[0]})`, 500, waitMs);
  const readOf = (hosts: readonly string[], read: Parameters<typeof readInstances>[1]) => {
    const { http, heldOff } = fakeUpstream('lemmy', () => ({}));
    const context = fakeContext(http);
    return { reading: readInstances({ source: 'lemmy', hosts, own: 'own.example', context }, read), heldOff };
  };
  const read = (hosts: readonly string[], bad: readonly string[]) =>
    readOf(hosts, (host) =>
      bad.includes(host) ? Promise.reject(failing(host, bad.indexOf(host) * 1000)) : Promise.resolve(nothing),
    ).reading;

  it('a named server is read with a lower size limit than the configured server', async () => {
    const { http, requests } = fakeUpstream('lemmy', () => ({ body: {} }));
    const instances = { source: 'lemmy' as const, hosts: ['own.example', 'a.example'], own: 'own.example' };
    await readInstances({ ...instances, context: fakeContext(http) }, async (host, reading) => {
      await reading.http.json({ url: `https://${host}/` });
      return nothing;
    });
    expect(requests.map(({ at, maxBytes }) => [at.host, maxBytes / 1024 / 1024])).toEqual([
      ['own.example', 16],
      ['a.example', 2],
    ]);
  });

  it('a server that fails causes a warning', async () => {
    expect(await read(['a.example', 'b.example'], ['b.example'])).toEqual({
      ...nothing,
      warnings: ['lemmy on b.example: lemmy answered 500 (b)'],
    });
  });

  it('the read fails with the longest wait, for this search only, if all servers fail', async () => {
    await expect(read(['a.example', 'b.example'], ['a.example', 'b.example'])).rejects.toMatchObject({
      kind: 'server_error',
      message:
        'none of the 2 servers of lemmy could be read: lemmy on a.example: lemmy answered 500 (a); lemmy on b.example: lemmy answered 500 (b)',
      retryAfterMs: 1000,
      reach: 'search',
    });
  });

  it('the fault of the configured server concerns all searches if the search has no other server', async () => {
    await expect(read(['own.example'], ['own.example'])).rejects.toMatchObject({
      message: 'lemmy answered 500 (o)',
      reach: 'upstream',
    });
  });

  it('errors that are not from the upstream are thrown', async () => {
    const broken = () => Promise.reject(new TypeError('broken'));
    await expect(readOf(['a.example'], broken).reading).rejects.toThrow(TypeError);
  });

  it.each([
    [new UpstreamError('rate_limited', 'busy', 429, 90_000), [{ waitMs: 90_000, reason: 'busy' }]],
    [new UpstreamError('server_error', 'busy', 503, 90_000), [{ waitMs: 90_000, reason: 'busy' }]],
    // Lemmy 0.19 never says how long to wait.
    [new UpstreamError('rate_limited', 'busy', 400), [{ waitMs: 30_000, reason: 'busy' }]],
    [new UpstreamError('server_error', 'down', 503), []],
  ])(
    'the wait of the lane depends only on the configured server, not on other servers: %o',
    async (fault, waits) => {
      const hosts = ['own.example', 'a.example'];
      const { reading, heldOff } = readOf(hosts, (host) =>
        host === 'own.example' ? Promise.reject(fault) : Promise.resolve(nothing),
      );
      expect((await reading).warnings).toEqual([fault.message]);
      expect(heldOff).toEqual(waits);
      const all = readOf(hosts, () => Promise.reject(fault));
      await expect(all.reading).rejects.toMatchObject({ reach: 'search' });
      expect(all.heldOff).toEqual(waits);
    },
  );
});

describe('a server that is named in searches and not configured', () => {
  beforeEach(() => void jest.useFakeTimers(fakeOnly('performance')));
  afterEach(() => void jest.useRealTimers());

  const session = new Map<string, unknown>();
  const hosts = ['own.example', 'busy.example', 'a.example'];

  /**
   * Requests each server once, except servers that have asked Earshot to wait. `busy.example` responds with `answer`.
   */
  async function read(answer: FakeAnswer) {
    const foreign: string[] = [];
    const heldOff: unknown[] = [];
    const upstream = fakeUpstream('lemmy', ({ at }) => (at.host === 'busy.example' ? answer : {}), {
      budget: () => ({
        before: (request) => {
          if (request.foreign) foreign.push(new URL(request.url).host);
          return Promise.resolve();
        },
        after: () => undefined,
        holdOff: (wait) => void heldOff.push(wait),
      }),
    });
    const context = fakeContext(upstream.http, { session });
    const instances = { source: 'lemmy' as const, hosts, own: 'own.example', context };
    const { warnings } = await readInstances(instances, async (host, { http }) => {
      await http.request({ url: `https://${host}/` });
      return { items: [], gap: false, warnings: [] };
    });
    return { warnings, asked: upstream.requests.map(({ at }) => at.host), foreign, heldOff };
  }

  it.each([
    [{ status: 429, headers: { 'retry-after': '60' } }, 60],
    [{ status: 503, headers: { 'retry-after': '60' } }, 60],
    [{ status: 429 }, 30],
    [{ headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' } }, 60],
  ])('gets no requests from any search until the wait of %j has passed', async (busy, seconds) => {
    session.clear();
    const first = await read(busy);
    expect([first.asked, first.heldOff]).toEqual([hosts, []]);
    expect(first.foreign).toEqual(['busy.example', 'a.example']);
    jest.advanceTimersByTime((seconds - 1) * 1000);
    const soon = await read({});
    expect(soon.asked).toEqual(['own.example', 'a.example']);
    expect(soon.warnings).toEqual([
      'lemmy on busy.example: it asked Earshot to wait; its next request is in 1 s',
    ]);
    jest.advanceTimersByTime(1000);
    const later = await read({});
    expect([later.asked, later.warnings]).toEqual([hosts, []]);
  });

  it('gets the next request immediately if it failed without asking Earshot to wait', async () => {
    session.clear();
    await read({ status: 503 });
    expect((await read({})).asked).toEqual(hosts);
  });

  it('is forgotten if too many other servers have been read since', () => {
    const context = { session: new Map<string, unknown>() };
    const cache = () => sessionCache<number>(context, 'servers', 2);
    for (const host of ['a', 'b', 'c']) cache().set(host, 1);
    expect([...cache().keys()].sort()).toEqual(['b', 'c']);
  });
});
