import { createOutboundHttp, type OutboundDispatch, type OutboundError } from './index.js';
import type { Answer } from './exchange.js';
import { closeOpened, loopbackServer, allowedServer } from './testing/client-and-servers.js';

afterEach(closeOpened);
const clients: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(clients.splice(0).map((one) => one.close())));

function openClient() {
  const http = createOutboundHttp({ allow: ['127.0.0.2/32'], userAgent: 'Earshot/spec' });
  clients.push(http);
  return http;
}

const post = (url: string, more: Partial<OutboundDispatch> = {}): OutboundDispatch => ({
  method: 'POST',
  url,
  headers: ['content-type', 'text/plain', 'x-one', '1'],
  body: Buffer.from('body'),
  deadlineMs: 5000,
  maxBytes: 1000,
  ...more,
});

/** Returns the list of the callback's calls after the first call. Later calls are added to the list. */
function outcomesOf(request: OutboundDispatch, http = openClient()) {
  const outcomes: [OutboundError | undefined, Answer | undefined][] = [];
  return new Promise<typeof outcomes>((resolve) =>
    http.dispatch(request, (error, answer) => {
      outcomes.push([error, answer]);
      resolve(outcomes);
    }),
  );
}

async function faultOf(request: OutboundDispatch, http = openClient()) {
  const [[error, answer] = []] = await outcomesOf(request, http);
  expect(answer).toBeUndefined();
  return `${error?.kind}: ${error?.message}`;
}

describe('a request with a callback', () => {
  it('sends the headers of its list of names and values, its user agent and its body, and calls back once', async () => {
    let seen: unknown;
    const server = await allowedServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { 'user-agent': agent, 'x-one': one, 'content-type': type } = request.headers;
        seen = [request.method, agent, one, type, Buffer.concat(chunks).toString()];
        response.end('answer');
      });
    });
    const outcomes = await outcomesOf(post(server.origin));
    expect(seen).toEqual(['POST', 'Earshot/spec', '1', 'text/plain', 'body']);
    expect(outcomes.map(([error, answer]) => [error, answer?.status, answer?.bytes.toString()])).toEqual([
      [undefined, 200, 'answer'],
    ]);
  });

  it('does not reach a private address, written as an IP address or as `localhost`', async () => {
    const server = await loopbackServer();
    const { port } = new URL(server.origin);
    for (const host of ['127.0.0.1', '2130706433', 'localhost'])
      expect(await faultOf(post(`http://${host}:${port}/`))).toMatch(/^blocked: .*address not allowed/);
    expect(await faultOf(post('not a url'))).toMatch(/^invalid_url: /);
  });

  it('does not follow a redirect', async () => {
    const hidden = await loopbackServer();
    const server = await allowedServer((_, response) =>
      response.writeHead(302, { location: hidden.origin }).end(),
    );
    const [[, answer] = []] = await outcomesOf(post(server.origin));
    expect(answer?.status).toBe(302);
  });

  it('ends at its deadline if no answer comes, and calls back once', async () => {
    const server = await allowedServer(() => undefined);
    const outcomes = await outcomesOf(post(server.origin, { deadlineMs: 50 }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes.map(([error]) => error?.kind)).toEqual(['timeout']);
  });

  it('truncates or refuses an answer that is too long', async () => {
    const server = await allowedServer((_, response) => response.end('x'.repeat(50_000)));
    const [[, answer] = []] = await outcomesOf(post(server.origin, { overflow: 'cut' }));
    expect(answer?.bytes.length).toBe(1000);
    expect(await faultOf(post(server.origin))).toMatch(/^too_large: /);
  });

  it('is refused if the client is closed', async () => {
    const http = openClient();
    await http.close();
    expect(await faultOf(post('http://127.0.0.2/'), http)).toMatch(/^network: .*stopping/);
  });
});
