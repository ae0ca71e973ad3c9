import { OutboundError } from '#http-out';
import { SPEC_NOW, fakeContext, fakeUpstream, type FakeAnswer } from '../testing/fake-upstream.js';
import type { FetchContext } from '../source.js';
import {
  anthropicAnswer,
  promptCriteria,
  connector,
  engineOf,
  engines,
  upstreamWithLane,
  reading,
} from './testing/fixtures.js';

describe('a check of ai_answers', () => {
  it('asks each engine once, with its key and model', async () => {
    const { read, requests } = reading(engines(), promptCriteria({}, 'uk'));
    await read;
    expect(requests.map(({ at, method, deadlineMs }) => [at.host, method, deadlineMs])).toEqual([
      ['api.openai.com', 'POST', 90_000],
      ['api.anthropic.com', 'POST', 90_000],
      ['api.perplexity.ai', 'POST', 90_000],
    ]);
    expect(requests.map(({ headers }) => headers?.['authorization'] ?? headers?.['x-api-key'])).toEqual([
      'Bearer key-1',
      'key-2',
      'Bearer key-3',
    ]);
    const bodies = requests.map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>);
    expect(bodies.map(({ model }) => model)).toEqual(['gpt-5.2', 'claude-haiku-4-5', 'sonar-pro']);
    expect(bodies[0]).toMatchObject({
      input: 'Which lamp is the best?',
      tools: [{ type: 'web_search', user_location: { type: 'approximate', country: 'GB' } }],
    });
  });

  it.each(['global', 'com', 'eu', 'xx', '', undefined])(
    'sends no country if the market is %j',
    async (market) => {
      const { read, requests } = reading(engines(), promptCriteria({ engines: ['openai'] }, market));
      await read;
      expect(String(requests[0]?.body)).not.toContain('user_location');
    },
  );

  it('asks only the engines that the search names', async () => {
    const { read, requests } = reading(engines(), promptCriteria({ engines: ['perplexity', 'openai'] }));
    expect((await read).units).toBe(2);
    expect(requests.map(engineOf)).toEqual(['openai', 'perplexity']);
  });

  it('asks an engine only once for searches that differ only in their brands', async () => {
    const under = new Map<string, Promise<unknown>>();
    const shared: FetchContext['shared'] = <T>(key: string, run: () => Promise<T>) => {
      if (!under.has(key)) under.set(key, run());
      return under.get(key) as Promise<T>;
    };
    const upstream = fakeUpstream('ai_answers', engines());
    const read = (more: Record<string, unknown>, market: string) =>
      connector.search(
        promptCriteria({ engines: ['openai'], ...more }, market),
        fakeContext(upstream.http, { shared }),
      );
    await Promise.all([read({}, 'de'), read({ brands: ['Other'] }, 'de')]);
    expect(upstream.requests.length).toBe(1);
    await read({}, 'fr');
    await read({ prompt: 'Another?' }, 'de');
    expect(upstream.requests.length).toBe(3);
  });

  it('asks Anthropic to continue a paused answer, at most three times', async () => {
    const paused = { ...anthropicAnswer({ text: 'So far. ' }), stop_reason: 'pause_turn' };
    const turns = async (pauses: number) => {
      let asked = 0;
      const answer = () => ({ body: (asked += 1) <= pauses ? paused : anthropicAnswer({ text: 'Done.' }) });
      const { read, requests } = reading(answer, promptCriteria({ engines: ['anthropic'] }));
      const outcome = await read.then(
        ({ items }) => items[0]?.text,
        (error: Error) => error.message,
      );
      return [outcome, requests.length];
    };
    expect(await turns(0)).toEqual(['Done.', 1]);
    expect(await turns(3)).toEqual(['So far. So far. So far. Done.', 4]);
    expect(await turns(4)).toEqual([
      'ai_answers: anthropic stopped before the end of its answer (pause_turn); the answer is not counted',
      4,
    ]);
  });
});

describe('an engine that fails', () => {
  const down = { fails: { status: 503 } };

  it('causes a warning, and the other engines answer', async () => {
    const { read } = reading(engines({ anthropic: down }));
    const { items, units, warnings, observations } = await read;
    expect(items.map(({ itemId }) => itemId)).toEqual(['openai:answer.created', 'perplexity:answer.created']);
    expect([units, observations?.length]).toEqual([2, 2]);
    expect(warnings).toEqual([
      'ai_answers answered 503: the upstream failed; Earshot tries again later (anthropic)',
    ]);
  });

  it('fails the check if no other engine answers', async () => {
    const limited = { fails: { status: 429, headers: { 'retry-after': '60' } } };
    const refused = { fails: { status: 429, headers: { 'retry-after': '20' } } };
    const { read } = reading(engines({ openai: limited, anthropic: down, perplexity: refused }));
    await expect(read).rejects.toMatchObject({
      kind: 'rate_limited',
      statusCode: 429,
      retryAfterMs: 20_000,
      message:
        'none of the 3 engines answered: ai_answers answered 429: openai gets too many requests, and asks to wait 60 s; ' +
        'ai_answers answered 503: the upstream failed; Earshot tries again later (anthropic); ' +
        'ai_answers answered 429: perplexity gets too many requests, and asks to wait 20 s',
    });
  });

  it('is not reported if the lane has stopped: the search then throws the error of the lane', async () => {
    const upstream = fakeUpstream('ai_answers', engines());
    const stopped = new Error('the lane stops');
    const http = { ...upstream.http, request: () => Promise.reject(stopped) };
    await expect(connector.search(promptCriteria(), fakeContext(http))).rejects.toBe(stopped);
  });

  it('is reported if it is no longer configured', async () => {
    const { read } = reading(engines(), promptCriteria({ engines: ['openai', 'gemini'] }));
    expect((await read).warnings).toEqual([
      'ai_answers: gemini is no longer configured; set AI_GEMINI_TOKEN',
    ]);
    await expect(reading(engines(), promptCriteria({ engines: ['gemini'] })).read).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'ai_answers: gemini is no longer configured; set AI_GEMINI_TOKEN',
    });
  });

  const secondsOn = (seconds: number) => new Date(SPEC_NOW.getTime() + seconds * 1000);
  const wait60 = { 'retry-after': '60' };
  it.each([
    [429, wait60, 60, 'openai gets too many requests, and asks to wait 60 s'],
    [429, {}, 30, 'openai gets too many requests'],
    [503, wait60, 60, 'the upstream failed; Earshot tries again later (openai)'],
    [529, wait60, 60, 'the upstream failed; Earshot tries again later (openai)'],
  ])(
    'answers %i %j, and then gets no request from any search for %i s',
    async (status, headers, seconds, why) => {
      let limited = true;
      const upstream = upstreamWithLane((request) =>
        engines(limited ? { openai: { fails: { status, headers } } } : {})(request),
      );
      const session = new Map<string, unknown>();
      const search = (prompt: string, now: Date) => {
        upstream.requests.length = 0;
        return connector.search(promptCriteria({ prompt }), fakeContext(upstream.http, { session, now }));
      };
      // The refusal of the engine arrives 40 s after the start of the check.
      upstream.lane.now = secondsOn(40);
      await search('Which lamp is the best?', SPEC_NOW);
      limited = false;
      upstream.lane.now = secondsOn(40 + seconds - 1);
      const { warnings } = await search('Which lamp lasts?', upstream.lane.now);
      expect(warnings).toEqual([
        `ai_answers: openai asked Earshot to wait, and gets no requests for another 1 s: ai_answers answered ${status}: ${why}`,
      ]);
      expect(upstream.requests.map(engineOf)).toEqual(['anthropic', 'perplexity']);
      upstream.lane.now = secondsOn(40 + seconds);
      expect((await search('Which lamp lasts?', upstream.lane.now)).warnings).toEqual([]);
      expect(upstream.requests.length).toBe(3);
    },
  );

  it('gets no request until its wait is over, even if another replica has taken the lane', async () => {
    const upstream = upstreamWithLane(engines());
    upstream.http.holdOff({ waitMs: 20_000, reason: 'busy', quota: 'openai' });
    const { warnings } = await connector.search(promptCriteria(), fakeContext(upstream.http));
    expect(warnings).toEqual([
      'ai_answers: openai asked Earshot to wait, and gets no requests for another 20 s',
    ]);
    const only = connector.search(promptCriteria({ engines: ['openai'] }), fakeContext(upstream.http));
    await expect(only).rejects.toMatchObject({ kind: 'quota_spent', retryAfterMs: 20_000 });
    expect(upstream.requests.map(engineOf)).toEqual(['anthropic', 'perplexity']);
  });

  it('causes no wait of the lane if it did not ask Earshot to wait', async () => {
    const { read, heldOff } = reading(engines({ anthropic: down }));
    await read;
    expect(heldOff).toEqual([]);
  });

  const openaiOnly = promptCriteria({ engines: ['openai'] });
  it.each<[string, FakeAnswer, object]>([
    [
      'its credit is used up',
      { status: 429, body: { error: { code: 'insufficient_quota', type: 'insufficient_quota' } } },
      { kind: 'quota_spent', retryAfterMs: 3_600_000 },
    ],
    [
      'its credit is used up (Anthropic)',
      { status: 400, body: { error: { message: 'Your credit balance is too low to access it.' } } },
      { kind: 'quota_spent', retryAfterMs: 3_600_000 },
    ],
    [
      'the requests of the day are used up (Google)',
      {
        status: 429,
        body: {
          error: { details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] }] },
        },
      },
      // Midnight in Los Angeles is 08:00 in UTC.
      { kind: 'quota_spent', retryAfterMs: 20 * 3_600_000 },
    ],
  ])('gets no requests for the time in `retryAfterMs` of the error if %s', async (_, answer, expected) => {
    const { read, heldOff } = reading(() => answer, openaiOnly);
    await expect(read).rejects.toMatchObject(expected);
    expect(heldOff).toMatchObject([
      { quota: 'openai', waitMs: (expected as { retryAfterMs: number }).retryAfterMs },
    ]);
    expect(connector.budget.quotas?.['openai']?.points).toBe(100_000);
  });

  it.each<[string, FakeAnswer, string]>([
    [
      '400',
      { status: 400, body: { error: { message: 'Web search options not supported <model>.' } } },
      'ai_answers answered 400: openai did not accept the request; if AI_OPENAI_MODEL is set, check that it names a model with web search',
    ],
    [
      '403',
      { status: 403, body: { error: { code: 'unsupported_country_region_territory' } } },
      'ai_answers answered 403: openai does not allow this account to search; check the permissions of the account',
    ],
    [
      '404',
      { status: 404, body: { error: { code: 'model_not_found' } } },
      'ai_answers answered 404: openai has no such model; check AI_OPENAI_MODEL',
    ],
    [
      '429 and durations in the headers',
      {
        status: 429,
        headers: { 'x-ratelimit-reset-requests': '120ms', 'x-ratelimit-reset-tokens': '6m0s' },
      },
      'ai_answers answered 429: openai gets too many requests, and asks to wait 360 s',
    ],
    [
      'a page of HTML',
      { status: 502, body: '<html>Bad gateway</html>' },
      'ai_answers answered 502: the upstream failed; Earshot tries again later (openai)',
    ],
    [
      'a time-out',
      new OutboundError('timeout', 'api.openai.com did not answer completely within 90 s'),
      'ai_answers could not be read: api.openai.com did not answer completely within 90 s',
    ],
  ])('is reported with its cause if it fails with %s', async (_, answer, message) => {
    await expect(reading(() => answer, openaiOnly).read).rejects.toMatchObject({ message });
  });

  it('still gives an answer, with a warning, if only one of its web searches fails (Anthropic)', async () => {
    const failed = { type: 'web_search_tool_result', content: { error_code: 'too_many_requests' } };
    const answer = anthropicAnswer({}) as { content: object[] };
    const body = { ...answer, content: [failed, ...answer.content] };
    const { read } = reading(() => ({ body }), promptCriteria({ engines: ['anthropic'] }));
    expect((await read).warnings).toEqual([
      'ai_answers: a web search of anthropic failed (too_many_requests); anthropic answered without its results',
    ]);
  });
});
