import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, EarshotError } from './index.js';

describe('a call that another server answers', () => {
  const page = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } };
  const client = createClient({
    baseUrl: 'http://proxy.example',
    apiKey: 'ek_1',
    fetch: async () => new Response('<h1>Sign in</h1>', page),
  });

  it.each([
    ['get', () => client.get('/v1/mentions')],
    ['post', () => client.post('/v1/webhooks/test', { body: { url: 'https://example.org' } })],
    ['delete', () => client.delete('/v1/keywords/{id}', { path: { id: '1' } })],
    ['paginate', () => client.paginate('/v1/mentions').next()],
    ['download', () => client.download('/v1/mentions/export')],
    ['stream', () => client.stream().next()],
  ])('throws from `%s` if a web page arrives with status 200', async (_, call) => {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EarshotError);
    expect(error).toMatchObject({ status: 200, code: 'UNKNOWN', message: 'HTTP 200: <h1>Sign in</h1>' });
  });

  it('does not follow a redirect, which could send the API key to another server', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      const location = `http://localhost:${(server.address() as AddressInfo).port}/moved`;
      response.writeHead(request.url === '/moved' ? 200 : 301, {
        location,
        'content-type': 'application/json',
      });
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const call = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'ek_1' }).post(
      '/v1/webhooks/test',
      {
        body: { url: 'https://example.org' },
      },
    );
    await expect(call).rejects.toMatchObject({
      status: 301,
      message: expect.stringContaining(`redirects to http://localhost:${port}/moved`),
    });
    expect(seen).toEqual(['POST /v1/webhooks/test']);
    server.close();
    server.closeAllConnections();
  });
});
