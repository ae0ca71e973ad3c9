import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { until } from '#testing';
import {
  closeOpened,
  guardedClient,
  faultOf,
  get,
  allowedServer,
  text,
} from './testing/client-and-servers.js';

afterEach(closeOpened);

describe('the deadline', () => {
  it('covers the whole request: a slow body does not restart it', async () => {
    const server = await allowedServer((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    expect(await faultOf(guardedClient().request(get(server.origin, { deadlineMs: 100 })))).toMatch(
      /^timeout: /,
    );
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('includes the wait for a free connection, and a late request is not sent', async () => {
    const answer: (() => void)[] = [];
    const server = await allowedServer((_, response) => answer.push(() => response.end()));
    const http = guardedClient({ connectionsPerOrigin: 1 });
    const first = http.request(get(server.origin));
    await until('the first request arrives', () => answer.length === 1);
    expect(await faultOf(http.request(get(server.origin, { deadlineMs: 30 })))).toMatch(/^timeout: /);
    answer[0]?.();
    await first;
    const third = http.request(get(server.origin));
    await until('the third request arrives', () => answer.length === 2);
    answer[1]?.();
    await third;
    expect(server.requests.length).toBe(2);
  });

  it('includes redirects', async () => {
    const server = await allowedServer((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/never' }).end();
    });
    expect(
      await faultOf(guardedClient().request(get(server.origin, { redirects: 'follow', deadlineMs: 60 }))),
    ).toMatch(/^timeout: /);
  });
});

describe('a client that reads the body of an answer', () => {
  const encodings: [string, (data: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', (data) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ];

  it.each(encodings)('limits the size after decoding, for an answer in %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(50_000_000));
    const server = await allowedServer((request, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(request.url === '/bomb' ? bomb : compress(Buffer.from('plain words')));
    });
    const http = guardedClient();
    expect(text((await http.request(get(server.origin))).bytes)).toBe('plain words');
    expect(await faultOf(http.request(get(`${server.origin}/bomb`)))).toBe(
      `too_large: 127.0.0.2:${server.port} answered with more than 976 KiB`,
    );
    const cut = await http.request(get(`${server.origin}/bomb`, { overflow: 'cut', maxBytes: 1_000 }));
    expect(cut.bytes.length).toBe(1_000);
  });

  it('limits the compressed bytes too, because they can decode to nothing', async () => {
    const empty = Buffer.concat(Array.from({ length: 50_000 }, () => gzipSync('')));
    const server = await allowedServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.write(gzipSync('plain words'));
      const send = () => void response.write(empty, (error) => !error && send());
      send();
    });
    const http = guardedClient();
    expect(await faultOf(http.request(get(server.origin)))).toBe(
      `too_large: 127.0.0.2:${server.port} answered with more than 976 KiB`,
    );
    expect(text((await http.request(get(server.origin, { overflow: 'cut' }))).bytes)).toBe('plain words');
  });

  it('reads nothing after the end of the compressed content', async () => {
    const stopped: boolean[] = [];
    let send = () => {};
    const server = await allowedServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.write(Buffer.concat([gzipSync('plain words'), Buffer.alloc(100)]));
      send = () => void response.write(Buffer.alloc(100_000), (error) => !error && send());
      response.on('close', () => stopped.push(true));
    });
    expect(text((await guardedClient().request(get(server.origin))).bytes)).toBe('plain words');
    // Before the answer, these bytes could exceed the maximum size of the answer.
    send();
    await until('the connection is closed', () => stopped.length === 1);
  });

  it('truncates an answer above the maximum size if the caller asks for this', async () => {
    const server = await allowedServer((_, response) => {
      response.write('0123456789');
      response.write('0123456789');
    });
    const answer = await guardedClient().request(get(server.origin, { maxBytes: 15, overflow: 'cut' }));
    expect([answer.status, text(answer.bytes)]).toEqual([200, '012345678901234']);
  });

  it('refuses an answer above the maximum size by default, and accepts an answer of exactly this size', async () => {
    const server = await allowedServer((_, response) => response.end('0123456789'));
    expect((await guardedClient().request(get(server.origin, { maxBytes: 10 }))).bytes.length).toBe(10);
    expect(await faultOf(guardedClient().request(get(server.origin, { maxBytes: 9 })))).toBe(
      `too_large: 127.0.0.2:${server.port} answered with more than 9 bytes`,
    );
  });

  it.each([
    ['gzip', 'this is not gzip', 'answered with broken compression'],
    ['zstd', '', 'answered in a content encoding that is not supported'],
  ])('refuses an answer whose %s encoding cannot be decoded', async (encoding, body, reason) => {
    const server = await allowedServer((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(body);
    });
    expect(await faultOf(guardedClient().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} ${reason}`,
    );
  });

  it('returns the decoded part of a compressed answer that is cut short', async () => {
    const server = await allowedServer((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('word '.repeat(10)).subarray(0, -9));
    });
    expect(text((await guardedClient().request(get(server.origin))).bytes)).toMatch(/^word /);
  });
});

describe('cookies', () => {
  it('are returned one by one, although their dates contain commas', async () => {
    const server = await allowedServer((request, response) => {
      const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2; Path=/'];
      response.setHeader('set-cookie', request.url === '/one' ? cookies.slice(1) : cookies);
      response.end();
    });
    const cookiesOf = async (url: string) => (await guardedClient().request(get(url))).setCookies;
    expect(await cookiesOf(server.origin)).toEqual([
      'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
      'b=2; Path=/',
    ]);
    expect(await cookiesOf(`${server.origin}/one`)).toEqual(['b=2; Path=/']);
  });

  it('are absent if the answer sets none', async () => {
    const server = await allowedServer((_, response) => response.end());
    expect(await guardedClient().request(get(server.origin))).not.toHaveProperty('setCookies');
  });
});

describe('connections', () => {
  it('are kept alive, and limited per origin', async () => {
    const server = await allowedServer((request, response) => {
      request.resume();
      request.on('end', () => response.end('ok'));
    });
    const http = guardedClient({ connectionsPerOrigin: 3 });
    const post = () => http.request(get(server.origin, { method: 'POST', body: '{"a":1}' }));
    await Promise.all(Array.from({ length: 60 }, post));
    expect(server.requests.length).toBe(60);
    expect(server.connections()).toBe(3);
  });

  it('are reported in plain words if they are refused or closed too early', async () => {
    const server = await allowedServer((request) => request.socket.destroy());
    expect(await faultOf(guardedClient().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} closed the connection before the answer was complete`,
    );
    await server.close();
    expect(await faultOf(guardedClient().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} refused the connection`,
    );
  });

  it.each([
    '220 mail.example.org ESMTP\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n',
  ])('fail with an error that names the reason if a server does not answer in HTTP: %j', async (bytes) => {
    const server = await allowedServer((request) => request.socket.end(bytes));
    expect(await faultOf(guardedClient().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} did not answer in HTTP`,
    );
  });

  it('send our user agent, unless the request sets its own', async () => {
    const server = await allowedServer((request, response) => response.end(request.headers['user-agent']));
    const http = guardedClient({ userAgent: 'earshot/1' });
    expect(text((await http.request(get(server.origin))).bytes)).toBe('earshot/1');
    const own = await http.request(get(server.origin, { headers: { 'user-agent': 'own' } }));
    expect(text(own.bytes)).toBe('own');
  });

  it('end when the client is closed, and nothing is sent afterwards', async () => {
    const server = await allowedServer(() => undefined);
    const http = guardedClient();
    const pending = faultOf(http.request(get(server.origin)));
    await until('the request arrives', () => server.requests.length === 1);
    await http.close();
    expect(await pending).toMatch(/^network: /);
    expect(await faultOf(http.request(get(server.origin)))).toMatch(/^network: /);
  });
});
