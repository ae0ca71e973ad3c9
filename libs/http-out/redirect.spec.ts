import {
  closeOpened,
  guardedClient,
  faultOf,
  get,
  loopbackServer,
  allowedServer,
  text,
} from './testing/client-and-servers.js';

afterEach(closeOpened);

describe('redirects', () => {
  it('are returned unchanged if they are not followed', async () => {
    const server = await allowedServer((_, response) => response.writeHead(302, { location: '/b' }).end());
    expect((await guardedClient().request(get(`${server.origin}/a`))).status).toBe(302);
    expect(server.requests.length).toBe(1);
  });

  it('never lead to a private address', async () => {
    const secret = await loopbackServer();
    const server = await allowedServer((_, response) =>
      response.writeHead(302, { location: secret.origin }).end(),
    );
    expect(await faultOf(guardedClient().request(get(server.origin, { redirects: 'follow' })))).toMatch(
      /^blocked: /,
    );
    const metadata = await allowedServer((_, response) =>
      response.writeHead(301, { location: '//169.254.169.254/latest/meta-data' }).end(),
    );
    expect(await faultOf(guardedClient().request(get(metadata.origin, { redirects: 'follow' })))).toMatch(
      /^blocked: /,
    );
    expect(secret.connections()).toBe(0);
  });

  it('are checked if they lead from a trusted host to another host', async () => {
    const secret = await loopbackServer();
    const server = await loopbackServer((_, response) =>
      response.writeHead(302, { location: secret.origin }).end(),
    );
    const request = get(server.origin, { redirects: 'follow', trusted: true });
    expect(await faultOf(guardedClient().request(request))).toMatch(/^blocked: /);
  });

  it('are reported as a permanent move only up to the first temporary redirect', async () => {
    const steps: Record<string, [number, string]> = {
      '/a': [301, '/b'],
      '/b': [308, '/c'],
      '/c': [302, '/d'],
      '/x': [302, '/b'],
    };
    const server = await allowedServer((request, response) => {
      const step = steps[request.url ?? ''];
      if (step) response.writeHead(step[0], { location: step[1] }).end();
      else response.end(request.url);
    });
    const moved = await guardedClient().request(get(`${server.origin}/a`, { redirects: 'follow' }));
    expect([text(moved.bytes), moved.url, moved.movedTo]).toEqual([
      '/d',
      `${server.origin}/d`,
      `${server.origin}/c`,
    ]);
    const temporary = await guardedClient().request(get(`${server.origin}/x`, { redirects: 'follow' }));
    expect([temporary.url, temporary.movedTo]).toEqual([`${server.origin}/d`, undefined]);
  });

  it('are followed at most five times', async () => {
    const server = await allowedServer((_, response) =>
      response.writeHead(302, { location: '/again' }).end(),
    );
    expect(await faultOf(guardedClient().request(get(server.origin, { redirects: 'follow' })))).toBe(
      `redirect: 127.0.0.2:${server.port} redirects more than 5 times`,
    );
    expect(server.requests.length).toBe(6);
  });

  it.each([
    [{}, 'redirects without a target'],
    [{ location: 'http://[' }, 'redirects to something that is not an address'],
  ])('are an error if they have no usable target (%j)', async (headers, reason) => {
    const server = await allowedServer((_, response) => response.writeHead(301, headers).end());
    expect(await faultOf(guardedClient().request(get(server.origin, { redirects: 'follow' })))).toContain(
      `redirect: 127.0.0.2:${server.port} ${reason}`,
    );
  });

  it('drop credentials if they lead to another host, and drop the body if the request becomes a GET', async () => {
    const second = await allowedServer((request, response) => {
      response.end(
        JSON.stringify([request.method, request.headers.authorization, request.headers['x-kept']]),
      );
    });
    const first = await allowedServer((_, response) =>
      response.writeHead(302, { location: second.origin }).end(),
    );
    const answer = await guardedClient().request(
      get(first.origin, {
        method: 'POST',
        body: 'x=1',
        headers: { authorization: 'Bearer s3cret', 'x-kept': 'yes', 'content-type': 'text/plain' },
        redirects: 'follow',
      }),
    );
    expect(JSON.parse(text(answer.bytes))).toEqual(['GET', null, 'yes']);
  });

  it('are rerouted one by one, and reported with their original addresses', async () => {
    const proxy = await loopbackServer((request, response) => {
      if (request.url === '/feed')
        response.writeHead(301, { location: 'https://new.example/feed2?a=1' }).end();
      else response.end(request.url);
    });
    const reroute = (url: string) => proxy.origin + new URL(url).pathname + new URL(url).search;
    const answer = await guardedClient().request(
      get('https://old.example/feed', { redirects: 'follow', trusted: true, reroute }),
    );
    expect([text(answer.bytes), answer.url, answer.movedTo]).toEqual([
      '/feed2?a=1',
      'https://new.example/feed2?a=1',
      'https://new.example/feed2?a=1',
    ]);
  });
});
