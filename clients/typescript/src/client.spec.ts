import { createClient, EarshotConnectionError, EarshotError, type Client } from './index.js';
import { broken, json, ScriptedServer, type Answer } from '../testing/scripted-server.js';

let script: ScriptedServer | undefined;
let client: Client;

async function start(...answers: Answer[]): Promise<ScriptedServer> {
  script = await ScriptedServer.of(...answers);
  client = createClient({ baseUrl: `${script.url}/`, apiKey: 'ek_1' });
  return script;
}

afterEach(async () => {
  await script?.close();
  script = undefined;
});

describe('a call', () => {
  it('fills the path, repeats list values in the query and sends the key', async () => {
    const { seen } = await start(json(200, { data: [] }));
    await client.get('/v1/keywords/{id}/results', {
      path: { id: 'a/b' },
      query: { source: ['x', 'rss'], q: 'a b', limit: 5 },
    });
    expect(seen[0]?.url).toBe('/v1/keywords/a%2Fb/results?source=x&source=rss&q=a+b&limit=5');
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'ek_1' });
  });

  it('returns undefined for the status 204, and a text for a response that is not JSON', async () => {
    await start(
      (_, response) => void response.writeHead(204).end(),
      (_, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end('id\n1\n'),
    );
    expect(await client.delete('/v1/keywords/{id}', { path: { id: '1' } })).toBeUndefined();
    expect(await client.get('/v1/mentions/export', { query: { format: 'csv' } })).toBe('id\n1\n');
  });

  it.each(['', '.', '..'])('throws before any request if a path parameter is "%s"', async (id) => {
    const { seen } = await start(json(200, {}));
    await expect(client.delete('/v1/keywords/{id}', { path: { id } })).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });

  it('sends the CSRF token only with writes, and only without an API key', async () => {
    const { seen, url } = await start(json(200, {}));
    const page = createClient({ baseUrl: url, csrfToken: () => 'token' });
    await page.get('/v1/account');
    await page.patch('/v1/account', { body: { timezone: 'UTC' } });
    await createClient({ baseUrl: url, apiKey: 'ek_1', csrfToken: () => 'token' }).patch('/v1/account', {
      body: {},
    });
    expect(seen.map(({ headers }) => headers['x-csrf-token'])).toEqual([undefined, 'token', undefined]);
    expect(seen[1]?.headers['x-api-key']).toBeUndefined();
  });
});

describe('a refused call', () => {
  it('throws an error with status, code, faults and the id of the request, and is not repeated', async () => {
    const details = [{ path: 'name', message: 'is empty' }];
    const { seen } = await start(json(400, { error: 'not valid', code: 'VALIDATION', details }));
    const error: unknown = await client
      .post('/v1/webhooks/test', { body: { url: '' } })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EarshotError);
    expect(error).toMatchObject({
      name: 'EarshotError',
      status: 400,
      code: 'VALIDATION',
      message: 'not valid',
      details,
      requestId: 'r-1',
    });
    expect(seen).toHaveLength(1);
  });

  it('throws an error with the status if a proxy answers with its own page', async () => {
    await start((_, response) => void response.writeHead(403, 'Forbidden').end('<h1>no</h1>'));
    await expect(client.get('/v1/account')).rejects.toMatchObject({
      status: 403,
      code: 'UNKNOWN',
      message: 'HTTP 403: <h1>no</h1>',
    });
  });

  it('throws without waiting if Retry-After is longer than allowed', async () => {
    const { seen } = await start(
      json(429, { error: 'used up', code: 'TOO_MANY_REQUESTS' }, { 'retry-after': '61' }),
    );
    await expect(client.get('/v1/account')).rejects.toMatchObject({ status: 429, retryAfterSeconds: 61 });
    expect(seen).toHaveLength(1);
  });
});

describe('a call that fails for a while', () => {
  it('is repeated after 503, a lost connection and 429', async () => {
    const { seen } = await start(
      json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }),
      broken,
      json(429, { error: 'used up', code: 'TOO_MANY_REQUESTS' }, { 'retry-after': '0' }),
      json(200, { id: 'a' }),
    );
    expect(await client.get('/v1/account')).toEqual({ id: 'a' });
    expect(seen).toHaveLength(4);
  });

  it('repeats a POST with the same Idempotency-Key and body', async () => {
    const { seen } = await start(
      json(500, { error: 'internal', code: 'INTERNAL' }, { 'retry-after': '0' }),
      json(409, { error: 'runs', code: 'IDEMPOTENCY_IN_PROGRESS' }, { 'retry-after': '0' }),
      json(202, { id: 'a' }),
    );
    await client.post('/v1/replays', { body: { since: '2026-03-01' } });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).toBe(1);
    expect(new Set(seen.map(({ body }) => body))).toEqual(new Set(['{"since":"2026-03-01"}']));
    await client.post('/v1/replays', { body: { since: '2026-03-01' }, idempotencyKey: 'mine' });
    expect(seen[3]?.headers['idempotency-key']).toBe('mine');
    await client.post('/v1/replays', {
      body: { since: '2026-03-01' },
      headers: { 'Idempotency-Key': 'also mine' },
    });
    expect(seen[4]?.headers['idempotency-key']).toBe('also mine');
  });

  it('does not repeat a PATCH or a DELETE, because the failed request can have had an effect', async () => {
    const { seen } = await start(json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }));
    await expect(client.patch('/v1/account', { body: {} })).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
    await script?.close();
    await start(broken);
    await expect(client.delete('/v1/keywords/{id}', { path: { id: '1' } })).rejects.toBeInstanceOf(
      EarshotConnectionError,
    );
    expect(script?.seen).toHaveLength(1);
  });

  it('sends a PATCH only once and without the Idempotency-Key that the caller gave', async () => {
    const { seen } = await start(json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }));
    const call = client.patch('/v1/account', { body: {}, idempotencyKey: 'mine' });
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined]);
  });

  it('throws the last error after the last repetition', async () => {
    const { seen, url } = await start(
      json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }),
    );
    const withOneRetry = createClient({ baseUrl: url, apiKey: 'ek_1', retries: 1 });
    await expect(withOneRetry.get('/v1/account')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(seen).toHaveLength(2);
  });

  it('ends immediately if its signal aborts while it waits', async () => {
    await start(json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '50' }));
    const stop = new AbortController();
    const call = client.get('/v1/account', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(call).rejects.toThrow('enough');
  });

  it('fails if one attempt exceeds its time limit', async () => {
    const { url } = await start(() => undefined);
    const withShortLimit = createClient({ baseUrl: url, apiKey: 'ek_1', retries: 0, timeoutMs: 30 });
    await expect(withShortLimit.get('/v1/account')).rejects.toThrow('no response within 30 ms');
  });

  it('waits for an analysis as long as the API does', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const fetch = (_: unknown, { signal }: RequestInit) =>
      new Promise<Response>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
        setTimeout(() => resolve(Response.json({})), 125_000);
      });
    const call = createClient({ baseUrl: '', fetch: fetch as typeof globalThis.fetch, retries: 0 }).post(
      '/v1/analyses',
      { body: { operation: 'group', mention_ids: [] } },
    );
    const answer = expect(call).resolves.toEqual({});
    jest.advanceTimersByTime(125_000);
    await answer;
    jest.useRealTimers();
  });

  it('starts no timer longer than 24.8 days, because such a timer would end immediately', async () => {
    const fetch = jest
      .fn<Promise<Response>, []>()
      .mockResolvedValueOnce(new Response('', { status: 429, headers: { 'retry-after': '3000000' } }));
    const stop = new AbortController();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const patient = { baseUrl: '', fetch, timeoutMs: Infinity, longestRetryAfterSeconds: Infinity };
    const call = createClient(patient).get('/v1/account', { signal: stop.signal });
    for (let turn = 0; turn < 100 && timers.mock.calls.length < 2; turn++) await new Promise(setImmediate);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1, 2 ** 31 - 1]);
    timers.mockRestore();
  });

  it('fails with an error that says whether the request can have had an effect', async () => {
    await start(broken);
    const once = createClient({ baseUrl: script?.url ?? '', apiKey: 'ek_1', retries: 0 });
    await expect(once.get('/v1/account')).rejects.toMatchObject({ canHaveHadEffect: false });
    const estimate = once.post('/v1/explore/estimate', { body: { question: 'a', sources: ['rss'] } });
    await expect(estimate).rejects.toMatchObject({ canHaveHadEffect: false });
    await expect(once.patch('/v1/account', { body: {} })).rejects.toMatchObject({ canHaveHadEffect: true });
  });
});

describe('`paginate`', () => {
  it('requests a page only when the caller needs its first row, with the same filters on each page', async () => {
    const { seen } = await start(
      json(200, { data: [{ id: '1' }, { id: '2' }], nextCursor: 'c1' }),
      json(200, { data: [{ id: '3' }], nextCursor: 'c2' }),
      json(200, { data: [{ id: '4' }] }),
    );
    const ids = [];
    for await (const { id } of client.paginate('/v1/mentions', { query: { lang: 'en' } })) {
      ids.push(id);
      if (id === '3') break;
    }
    expect(ids).toEqual(['1', '2', '3']);
    expect(seen.map(({ url }) => url)).toEqual(['/v1/mentions?lang=en', '/v1/mentions?lang=en&cursor=c1']);
  });

  it('returns the rows of a list whose key is not `data`', async () => {
    await start(json(200, { activity: [{ id: '1' }] }));
    const rows = client.paginate('/v1/keywords/{id}/activity', { path: { id: 'k' } });
    expect((await rows.next()).value).toEqual({ id: '1' });
    expect((await rows.next()).done).toBe(true);
  });
});
