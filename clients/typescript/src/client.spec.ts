import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Http } from './http.js';
import { createClient, EarshotConnectionError, EarshotError, type Client } from './index.js';
import { mentionStream } from './mention-stream.js';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that gives its answers in turn, and then repeats the last answer. */
class ScriptedServer {
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  private constructor(
    private readonly answers: readonly Answer[],
    readonly close: () => Promise<void>,
    readonly url: string,
  ) {}

  static async of(...answers: Answer[]): Promise<ScriptedServer> {
    const server = createServer((request, response) => void script.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    const script = new ScriptedServer(
      answers,
      close,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    return script;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    this.seen.push({ method, url, headers, body });
    this.answers[Math.min(this.seen.length, this.answers.length) - 1]?.(request, response, body);
  }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers });
    response.end(JSON.stringify(body));
  };
const broken: Answer = (request) => request.socket.destroy();

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

describe('`stream`', () => {
  const events =
    (text: string, isEnded = true): Answer =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text);
      if (isEnded) response.end();
    };

  it('continues after the last mention if the connection was lost', async () => {
    const { seen } = await start(
      events(': hello\n\nid: a\nevent: mention\ndata: {"id":"1"}\n\n'),
      json(503, { error: 'later', code: 'UNAVAILABLE' }, { 'retry-after': '0' }),
      events('id: b\r\nevent: mention\r\ndata: {"id":\r\ndata: "2"}\r\n\r\nevent: other\ndata: x\n\n', false),
    );
    const found = [];
    for await (const { id, mention } of client.stream({ source: 'rss' }, { lastEventId: '0' })) {
      found.push([id, mention.id]);
      if (found.length === 2) break;
    }
    expect(found).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(seen.map(({ url, headers }) => [url, headers['last-event-id']])).toEqual([
      ['/v1/stream?source=rss', '0'],
      ['/v1/stream?source=rss', 'a'],
      ['/v1/stream?source=rss', 'a'],
    ]);
  });

  it('continues from the beginning of the stream if the connection is lost before the first mention', async () => {
    const { seen } = await start(
      events('id: begin\n\n'),
      events('id: a\nevent: mention\ndata: {"id":"1"}\n\n', false),
    );
    const opened: string[] = [];
    for await (const { id } of client.stream({}, { onOpen: (id) => opened.push(id) })) {
      expect(id).toBe('a');
      break;
    }
    expect(seen[1]?.headers['last-event-id']).toBe('begin');
    expect(opened).toEqual(['begin', 'begin']);
  });

  it('throws if the API refuses the stream', async () => {
    await start(json(401, { error: 'the API key is not valid', code: 'UNAUTHORIZED' }));
    await expect(client.stream().next()).rejects.toMatchObject({ status: 401 });
  });

  it('throws an error of `onOpen` to the caller, and closes the connection', async () => {
    let closed: Promise<void> | undefined;
    const { seen } = await start((request, response, body) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      events('id: begin\n\n', false)(request, response, body);
    });
    const fail = () => {
      throw new Error('not stored');
    };
    await expect(client.stream({}, { onOpen: fail }).next()).rejects.toThrow('not stored');
    await closed;
    expect(seen).toHaveLength(1);
  });

  it('reports a mention that is not JSON as a loss, and continues after it', async () => {
    await start(
      events('id: a\nevent: mention\ndata: {"id":\n\n', false),
      events('id: b\nevent: mention\ndata: {"id":"2"}\n\n', false),
    );
    const losses: unknown[] = [];
    const stream = client.stream({}, { onReconnect: (error) => losses.push(error) });
    expect((await stream.next()).value).toEqual({ id: 'b', mention: { id: '2' } });
    expect(losses).toEqual([new EarshotConnectionError('the mention a cannot be read')]);
    await stream.return();
  });

  it('keeps its connection even if the caller works on one mention for a minute', async () => {
    jest.useFakeTimers();
    let sent = 0;
    const send = ({ signal }: { signal: AbortSignal }) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        pull: (controller) =>
          controller.enqueue(Buffer.from(`id: ${(sent += 1)}\nevent: mention\ndata: {"id":"${sent}"}\n\n`)),
      });
      return Promise.resolve({ body });
    };
    const losses: unknown[] = [];
    const stream = mentionStream({ send } as unknown as Http, {}, { onReconnect: (one) => losses.push(one) });
    expect((await stream.next()).value).toMatchObject({ id: '1' });
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    expect((await stream.next()).value).toMatchObject({ id: '2' });
    expect(losses).toEqual([]);
    await stream.return();
  });

  it('throws the reason of its signal if the signal aborts', async () => {
    await start(events(': hello\n\n', false));
    const stop = new AbortController();
    const next = client.stream({}, { signal: stop.signal }).next();
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(next).rejects.toThrow('enough');
  });
});
