import { OutboundError, readRateHeaders, type OutboundRequest } from '#http-out';
import { SPEC_NOW, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import { createUpstreamHttp } from '../index.js';

describe("a source's HTTP client", () => {
  it('sends requests with a deadline, a size limit and compression, and trusts only a configured address', async () => {
    const sent: OutboundRequest[] = [];
    const http = {
      request: (request: OutboundRequest) => {
        sent.push(request);
        return Promise.resolve({ status: 200, headers: {}, bytes: Buffer.from('{}'), url: request.url });
      },
      close: () => Promise.resolve(),
    };
    await createUpstreamHttp({ source: 'reddit', http }).json({ url: 'https://oauth.reddit.com/search?q=a' });
    await createUpstreamHttp({ source: 'reddit', http, baseUrl: 'http://sim.example:81' }).json({
      method: 'POST',
      url: 'https://www.reddit.com/api/v1/access_token?x=1',
      body: 'a=b',
    });
    expect(sent[0]).toMatchObject({
      method: 'GET',
      deadlineMs: 20_000,
      maxBytes: 16 * 1024 * 1024,
      redirects: 'none',
    });
    expect(sent[0]?.headers).toEqual({ accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' });
    expect([sent[0]?.trusted, sent[0]?.reroute]).toEqual([undefined, undefined]);
    expect([sent[1]?.trusted, sent[1]?.reroute?.(sent[1].url)]).toEqual([
      true,
      'http://sim.example:81/api/v1/access_token?x=1',
    ]);
  });

  it('reports every request to the budget, even if there is no response', async () => {
    const log: unknown[] = [];
    const answers: FakeAnswer[] = [
      { status: 200, headers: { 'x-ratelimit-remaining': '9' }, body: {} },
      { status: 503 },
      new OutboundError('timeout', 'it took too long'),
    ];
    const upstream = fakeUpstream('reddit', () => answers.shift() ?? {}, {
      budget: (source) => ({
        before: () => Promise.resolve(void log.push(source)),
        after: (answer) => log.push(answer),
      }),
    });
    for (let n = 0; n < 3; n += 1)
      await upstream.http.request({ url: 'https://a.example/' }).catch(() => undefined);
    expect(log).toEqual([
      'reddit',
      { status: 200, headers: { 'x-ratelimit-remaining': '9' } },
      'reddit',
      { status: 503, headers: {} },
      'reddit',
      { status: 0, headers: {} },
    ]);
  });

  it('sends nothing that the budget does not allow', async () => {
    const upstream = fakeUpstream('reddit', () => ({}), {
      budget: () => ({
        before: () => Promise.reject(new Error('the lane is closed')),
        after: () => undefined,
      }),
    });
    await expect(upstream.http.request({ url: 'https://a.example/' })).rejects.toThrow('the lane is closed');
    expect(upstream.requests).toEqual([]);
  });

  it('returns responses with an accepted status', async () => {
    const upstream = fakeUpstream('rss', () => ({ status: 304 }));
    expect((await upstream.http.request({ url: 'https://a.example/', accept: [304] })).status).toBe(304);
    await expect(upstream.http.request({ url: 'https://a.example/' })).rejects.toMatchObject({
      kind: 'unexpected_status',
    });
  });

  it.each([
    ['{"a": [1, 2', 'truncated', 'reddit answered JSON that breaks off in the middle'],
    ['{"a": "half a str', 'truncated', 'reddit answered JSON that breaks off in the middle'],
    ['{"a": 1', 'truncated', 'reddit answered JSON that breaks off in the middle'],
    ['{"a": 1}}', 'not_parsable', 'reddit answered something that is not JSON'],
    ['', 'not_parsable', 'reddit answered nothing where JSON was expected'],
    ['<html>', 'not_parsable', 'reddit answered HTML where JSON was expected'],
  ])('reports what is wrong with %s', async (body, kind, message) => {
    const upstream = fakeUpstream('reddit', () => ({ body }));
    await expect(upstream.http.json({ url: 'https://a.example/' })).rejects.toMatchObject({ kind, message });
  });

  it.each([
    [403, {}, 'forbidden', undefined],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, 'rate_limited', 30_000],
    [429, {}, 'rate_limited', undefined],
    [429, { 'x-ratelimit-remaining': '12.0', 'x-ratelimit-reset': '525' }, 'rate_limited', 525_000],
    [503, { 'retry-after': '120' }, 'server_error', 120_000],
  ])(
    'throws an UpstreamError for status %i with the headers %j',
    async (status, headers, kind, retryAfterMs) => {
      const upstream = fakeUpstream('reddit', () => ({ status, headers: headers as Record<string, string> }));
      const fault: unknown = await upstream.http
        .request({ url: 'https://a.example/' })
        .catch((error: unknown) => error);
      expect(fault).toMatchObject({ kind, statusCode: status });
      expect((fault as { retryAfterMs?: number }).retryAfterMs).toBe(retryAfterMs);
    },
  );
});

describe('rate headers', () => {
  const inTwoMinutes = String(SPEC_NOW.getTime() / 1000 + 120);
  it.each([
    [{}, {}],
    [
      { 'x-ratelimit-remaining': '599.0', 'x-ratelimit-reset': '525' },
      { remaining: 599, resetAfterMs: 525_000 },
    ],
    [
      { 'ratelimit-remaining': '5', 'ratelimit-reset': inTwoMinutes },
      { remaining: 5, resetAfterMs: 120_000 },
    ],
    [
      { 'ratelimit-remaining': '0', 'ratelimit-reset': inTwoMinutes },
      { remaining: 0, resetAfterMs: 120_000, retryAfterMs: 120_000 },
    ],
    [
      { 'x-rate-limit-remaining': '-5', 'x-rate-limit-reset': '600' },
      { remaining: -5, resetAfterMs: 600_000, retryAfterMs: 600_000 },
    ],
    [
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '2026-03-04T12:05:00.000Z' },
      { remaining: 0, resetAfterMs: 300_000, retryAfterMs: 300_000 },
    ],
    [{ 'retry-after': '1.5' }, { retryAfterMs: 1_500 }],
    [{ 'retry-after': 'Wed, 04 Mar 2026 12:00:10 GMT' }, { retryAfterMs: 10_000 }],
    [{ 'retry-after': 'Wed, 04 Mar 2026 11:00:00 GMT' }, { retryAfterMs: 0 }],
    [{ 'retry-after': '999999999' }, { retryAfterMs: 86_400_000 }],
    [{ 'retry-after': 'soon', 'x-ratelimit-remaining': 'many' }, {}],
  ])('are read, and unreadable values count as absent: %j', (headers, expected) => {
    expect(readRateHeaders(headers as Record<string, string>, SPEC_NOW)).toEqual(expected);
  });
});
