import { gzipSync } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createOutboundHttp, type OutboundHttp } from '#http-out';
import { startServer, type TestServer } from '../http-out/testing/servers.js';
import { ChatClient } from './chat-client.js';

const TOKEN = 'sk-very-secret-token';
let http: OutboundHttp;
let server: TestServer | undefined;

beforeEach(() => {
  http = createOutboundHttp({ allow: [], userAgent: 'Earshot/spec' });
});
afterEach(async () => {
  await http.close();
  await server?.close();
});

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

async function ask(respond: Respond, more: { token?: string; withinMs?: number; temperature?: number } = {}) {
  server = await startServer('127.0.0.1', (request, response) => {
    request.resume().on('end', () => respond(request, response));
  });
  const { token = TOKEN, withinMs = 5_000, temperature } = more;
  const client = new ChatClient({ url: `${server.origin}/v1/`, model: 'm', token, temperature, http });
  return client.complete([{ role: 'user', content: 'hello' }], { type: 'object' }, withinMs);
}

const json =
  (body: unknown, status = 200): Respond =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const completion = (message: object, more: object = {}) => ({
  model: 'm-2026',
  choices: [{ message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 3 },
  ...more,
});

it('the chat client sends one request to the address, with the token and the configured User-Agent, and without x- headers', async () => {
  const answer = await ask(json(completion({ content: '{}' })));
  expect(answer).toEqual({
    text: '{}',
    isCut: false,
    isDeclined: false,
    model: 'm-2026',
    tokensIn: 12,
    tokensOut: 3,
  });
  const [request] = server?.requests ?? [];
  expect([request?.method, request?.url]).toEqual(['POST', '/v1/chat/completions']);
  expect(request?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(request?.headers['user-agent']).toBe('Earshot/spec');
  expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
});

it('the chat client sends no authorization without a token', async () => {
  await ask(json(completion({ content: '{}' })), { token: '' });
  expect(server?.requests[0]?.headers).not.toHaveProperty('authorization');
});

it.each<[string, Respond]>([
  ['a message without content', json(completion({}))],
  ['content that is not text', json(completion({ content: { a: 1 } }))],
  [
    'an empty message with absurd counts of tokens',
    json(completion({ content: '' }, { usage: { prompt_tokens: -1, completion_tokens: 1e300 } })),
  ],
])('the chat client reads %s as an empty answer', async (_, respond) => {
  expect(await ask(respond)).toMatchObject({ text: '', isDeclined: false });
});

it.each([
  ['<think>It says {"items": 1}.\n</think>\n\n{}', '\n\n{}'],
  ['\n<think></think>{"a":"<think>x</think>"}', '{"a":"<think>x</think>"}'],
  ['The server removed the start.\n</think>\n{}', '\n{}'],
  ['{"a":"only</think> a text"}', '{"a":"only</think> a text"}'],
  ['```json\n{"a":"</think>"}\n```', '```json\n{"a":"</think>"}\n```'],
  ['<think>the thoughts have no end {}', '<think>the thoughts have no end {}'],
])('the chat client removes the thoughts before the answer in %j', async (content, text) => {
  expect(await ask(json(completion({ content })))).toMatchObject({ text });
});

it('the chat client recognises answers that were cut off, and answers that the model declined', async () => {
  const cut = completion({ content: '{"it' });
  cut.choices[0]!.finish_reason = 'length';
  expect(await ask(json(cut))).toMatchObject({ isCut: true });
  await server?.close();
  expect(await ask(json(completion({ content: null, refusal: 'No.' })))).toMatchObject({ isDeclined: true });
});

it.each<[string, string, Respond]>([
  [
    'server_error',
    'a page instead of JSON',
    (_, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  ],
  [
    'server_error',
    'a body that is not JSON',
    (_, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"a":'),
  ],
  ['server_error', 'no body', (_, r) => r.writeHead(204).end()],
  ['server_error', 'no choices', json({ choices: [] })],
  ['server_error', 'null', json(null)],
  ['server_error', '500', json({ error: { message: 'oh' } }, 500)],
  ['rate_limited', '429', json({ error: { message: 'slow down' } }, 429)],
  ['refused', '401', json({ error: { message: 'no' } }, 401)],
  ['refused', 'a redirect', (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ['network', 'a connection that ends', (_, r) => r.destroy()],
  [
    'network',
    'half a body',
    (_, r) => void r.writeHead(200, { 'content-length': 1000 }).write('{', () => r.destroy()),
  ],
])('the chat client reports %s for %s', async (kind, _, respond) => {
  await expect(ask(respond)).rejects.toMatchObject({ name: 'LlmError', kind });
  expect(server?.requests).toHaveLength(1);
});

/** Compression takes seconds on a busy machine. In the test, these seconds would count toward the deadline. */
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024));

it.each([
  ['without an end', (_: IncomingMessage, r: ServerResponse) => endless(r)],
  [
    'of 100 MB that is compressed',
    (_: IncomingMessage, r: ServerResponse) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  ],
])('the chat client stops reading an answer %s', async (_, respond) => {
  await expect(ask(respond)).rejects.toMatchObject({ kind: 'too_large' });
});

/** Writes for as long as somebody reads. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = ' '.repeat(64 * 1024);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

it('the chat client ends at its deadline if the server hangs, or answers slowly without an end', async () => {
  await expect(ask(() => undefined, { withinMs: 100 })).rejects.toMatchObject({ kind: 'timeout' });
  await server?.close();
  const drip: Respond = (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(timer));
  };
  await expect(ask(drip, { withinMs: 100 })).rejects.toMatchObject({ kind: 'timeout' });
});

it('the chat client reports how long the server asks to wait, for rate limits and for outages', async () => {
  const asks =
    (status: number): Respond =>
    (_, r) =>
      r.writeHead(status, { 'retry-after': '7', 'content-type': 'application/json' }).end('{}');
  await expect(ask(asks(429))).rejects.toMatchObject({ retryAfterMs: 7_000 });
  await server?.close();
  await expect(ask(asks(503))).rejects.toMatchObject({ retryAfterMs: 7_000 });
});

it('the chat client never repeats the token, even if the server puts the token into its message', async () => {
  const refused = ask(json({ error: { message: `Incorrect API key provided: ${TOKEN}.\u0000\nBye` } }, 401));
  await expect(refused).rejects.toMatchObject({
    message: expect.stringContaining('Incorrect API key provided: …. Bye'),
  });
  const error: unknown = await refused.catch((thrown: unknown) => thrown);
  const { inspect } = await import('node:util');
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(TOKEN);
});
