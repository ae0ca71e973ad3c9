import type { RequestListener } from 'node:http';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { OutboundError, createOutboundHttp, type OutboundHttp, type OutboundRequest } from './index.js';
import { privateIpv4, publicIpv4, v4InV6, v4Spelling } from './testing/addresses.js';
import { startServer, type TestServer } from './testing/servers.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function door(options: Partial<Parameters<typeof createOutboundHttp>[0]> = {}): OutboundHttp {
  const http = createOutboundHttp({ allow: ['127.0.0.2/32'], userAgent: 'test', ...options });
  open.push(http);
  return http;
}

// 127.0.0.2 stands for the internet (EGRESS_ALLOW), 127.0.0.1 for the inside.
async function outside(listener: RequestListener): Promise<TestServer> {
  const server = await startServer('127.0.0.2', listener);
  open.push(server);
  return server;
}

async function inside(
  listener: RequestListener = (_, response) => response.end('secret'),
): Promise<TestServer> {
  const server = await startServer('127.0.0.1', listener);
  open.push(server);
  return server;
}

function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, deadlineMs: 5_000, maxBytes: 1_000_000, redirects: 'none', ...more };
}

async function faultOf(answer: Promise<unknown>): Promise<string> {
  const fault: unknown = await answer.then(
    () => new Error('it was answered'),
    (error: unknown) => error,
  );
  if (!(fault instanceof OutboundError)) throw fault;
  return `${fault.kind}: ${fault.message}`;
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('addresses in the URL', () => {
  it('refuses private addresses in every spelling, without connecting', async () => {
    const http = door({ allow: [] });
    const hosts = fc.oneof(
      fc.tuple(privateIpv4, v4Spelling).map(([address, spell]) => spell(address)),
      fc.tuple(privateIpv4, v4InV6).map(([address, embed]) => `[${embed(address)}]`),
    );
    await fc.assert(
      fc.asyncProperty(hosts, fc.constantFrom('http', 'https'), async (host, scheme) => {
        expect(await faultOf(http.request(get(`${scheme}://${host}/x`)))).toMatch(/^blocked: /);
      }),
    );
  });

  it.each([
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
  ])('never reaches a server on this machine as %s', async (host) => {
    const server = await inside();
    expect(await faultOf(door().request(get(`http://${host}:${server.port}/`)))).toMatch(/^blocked: /);
    expect(server.connections()).toBe(0);
  });

  it.each([
    ['ftp://example.org/', 'invalid_url: only http and https addresses can be reached'],
    ['file:///etc/passwd', 'invalid_url: only http and https addresses can be reached'],
    ['example.org', 'invalid_url: the address is not a URL'],
    ['http://', 'invalid_url: the address is not a URL'],
    ['http://user:word@example.org/', 'invalid_url: the address must not hold a user name or a password'],
    ['http://example.org@127.0.0.1/', 'invalid_url: the address must not hold a user name or a password'],
    ['http://example.org:0/', 'invalid_url: port 0 cannot be reached'],
  ])('refuses %s', async (url, fault) => {
    expect(await faultOf(door().request(get(url)))).toBe(fault);
  });

  it('reaches what EGRESS_ALLOW names, localhost included', async () => {
    const server = await inside((_, response) => response.end('hello'));
    const http = door({ allow: ['127.0.0.0/8'] });
    for (const host of ['127.0.0.1', '127.1', 'localhost']) {
      expect(text((await http.request(get(`http://${host}:${server.port}/`))).bytes)).toBe('hello');
    }
  });

  it('reaches anything when the request is trusted, over connections of its own', async () => {
    const server = await inside();
    const http = door();
    expect((await http.request(get(server.origin, { trusted: true }))).status).toBe(200);
    expect(await faultOf(http.request(get(server.origin)))).toMatch(/^blocked: /);
  });
});

describe('addresses from DNS', () => {
  it('refuses a name when any of its answers is private', async () => {
    let answers: string[] = [];
    const http = door({ resolve: () => Promise.resolve(answers) });
    let names = 0;
    const privateAddress = fc.oneof(
      privateIpv4,
      fc.tuple(privateIpv4, v4InV6).map(([a, embed]) => embed(a)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(publicIpv4, { maxLength: 3 }), privateAddress, async (good, bad) => {
        answers = [...good, bad];
        names += 1;
        expect(await faultOf(http.request(get(`http://host-${names}.example/`)))).toBe(
          `blocked: host-${names}.example leads to a private or reserved address; the operator can allow it with EGRESS_ALLOW`,
        );
      }),
    );
  });

  it('connects to the checked answer and to no later one', async () => {
    const server = await outside((_, response) => response.end('outside'));
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let lookups = 0;
    const http = door({ resolve: () => Promise.resolve(answers[lookups++] ?? []) });
    const url = `http://rebinding.example:${server.port}/`;
    expect(text((await http.request(get(url))).bytes)).toBe('outside');
    expect(lookups).toBe(1);
    const again = door({ resolve: () => Promise.resolve(answers[lookups++] ?? []) });
    expect(await faultOf(again.request(get(url)))).toMatch(/^blocked: /);
  });

  it('says when a name has no address', async () => {
    const http = door({ resolve: () => Promise.resolve([]) });
    expect(await faultOf(http.request(get('http://nowhere.example/x?token=1')))).toBe(
      'network: nowhere.example has no address (no such host)',
    );
  });

  it('keeps its deadline when the name server is silent', async () => {
    const http = door({ resolve: () => new Promise(() => undefined) });
    expect(await faultOf(http.request(get('http://slow.example/', { deadlineMs: 30 })))).toBe(
      'timeout: slow.example did not answer completely within 0.03 s',
    );
  });
});

describe('redirects', () => {
  it('are answered as they came when not followed', async () => {
    const server = await outside((_, response) => response.writeHead(302, { location: '/b' }).end());
    expect((await door().request(get(`${server.origin}/a`))).status).toBe(302);
    expect(server.requests.length).toBe(1);
  });

  it('never lead inside', async () => {
    const secret = await inside();
    const server = await outside((_, response) => response.writeHead(302, { location: secret.origin }).end());
    expect(await faultOf(door().request(get(server.origin, { redirects: 'follow' })))).toMatch(/^blocked: /);
    const metadata = await outside((_, response) =>
      response.writeHead(301, { location: '//169.254.169.254/latest/meta-data' }).end(),
    );
    expect(await faultOf(door().request(get(metadata.origin, { redirects: 'follow' })))).toMatch(
      /^blocked: /,
    );
    expect(secret.connections()).toBe(0);
  });

  it('of a trusted host to another host are checked', async () => {
    const secret = await inside();
    const server = await inside((_, response) => response.writeHead(302, { location: secret.origin }).end());
    const request = get(server.origin, { redirects: 'follow', trusted: true });
    expect(await faultOf(door().request(request))).toMatch(/^blocked: /);
  });

  it('tell where a thing has moved for good, as long as every step was for good', async () => {
    const steps: Record<string, [number, string]> = {
      '/a': [301, '/b'],
      '/b': [308, '/c'],
      '/c': [302, '/d'],
      '/x': [302, '/b'],
    };
    const server = await outside((request, response) => {
      const step = steps[request.url ?? ''];
      if (step) response.writeHead(step[0], { location: step[1] }).end();
      else response.end(request.url);
    });
    const moved = await door().request(get(`${server.origin}/a`, { redirects: 'follow' }));
    expect([text(moved.bytes), moved.url, moved.movedTo]).toEqual([
      '/d',
      `${server.origin}/d`,
      `${server.origin}/c`,
    ]);
    const lent = await door().request(get(`${server.origin}/x`, { redirects: 'follow' }));
    expect([lent.url, lent.movedTo]).toEqual([`${server.origin}/d`, undefined]);
  });

  it('end after five', async () => {
    const server = await outside((_, response) => response.writeHead(302, { location: '/again' }).end());
    expect(await faultOf(door().request(get(server.origin, { redirects: 'follow' })))).toBe(
      `redirect: 127.0.0.2:${server.port} redirects more than 5 times`,
    );
    expect(server.requests.length).toBe(6);
  });

  it.each([
    [{}, 'redirects without saying where'],
    [{ location: 'http://[' }, 'redirects to something that is not an address'],
  ])('without a usable target are a fault (%j)', async (headers, reason) => {
    const server = await outside((_, response) => response.writeHead(301, headers).end());
    expect(await faultOf(door().request(get(server.origin, { redirects: 'follow' })))).toContain(
      `redirect: 127.0.0.2:${server.port} ${reason}`,
    );
  });

  it('leave credentials behind when they lead to another host, and bodies when they become a GET', async () => {
    const second = await outside((request, response) => {
      response.end(
        JSON.stringify([request.method, request.headers.authorization, request.headers['x-kept']]),
      );
    });
    const first = await outside((_, response) => response.writeHead(302, { location: second.origin }).end());
    const answer = await door().request(
      get(first.origin, {
        method: 'POST',
        body: 'x=1',
        headers: { authorization: 'Bearer s3cret', 'x-kept': 'yes', 'content-type': 'text/plain' },
        redirects: 'follow',
      }),
    );
    expect(JSON.parse(text(answer.bytes))).toEqual(['GET', null, 'yes']);
  });

  it('are rerouted hop by hop, and told by their own names', async () => {
    const proxy = await inside((request, response) => {
      if (request.url === '/feed')
        response.writeHead(301, { location: 'https://new.example/feed2?a=1' }).end();
      else response.end(request.url);
    });
    const reroute = (url: string) => proxy.origin + new URL(url).pathname + new URL(url).search;
    const answer = await door().request(
      get('https://old.example/feed', { redirects: 'follow', trusted: true, reroute }),
    );
    expect([text(answer.bytes), answer.url, answer.movedTo]).toEqual([
      '/feed2?a=1',
      'https://new.example/feed2?a=1',
      'https://new.example/feed2?a=1',
    ]);
  });
});

describe('time', () => {
  it('is one deadline over everything: a dripping body does not restart it', async () => {
    const server = await outside((_, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    expect(await faultOf(door().request(get(server.origin, { deadlineMs: 100 })))).toMatch(/^timeout: /);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('runs while a request waits for a free connection, and a late one is not sent', async () => {
    const answer: (() => void)[] = [];
    const server = await outside((_, response) => answer.push(() => response.end()));
    const http = door({ connectionsPerOrigin: 1 });
    const first = http.request(get(server.origin));
    expect(await faultOf(http.request(get(server.origin, { deadlineMs: 30 })))).toMatch(/^timeout: /);
    answer[0]?.();
    await first;
    const third = http.request(get(server.origin));
    await expect.poll(() => answer.length).toBe(2);
    answer[1]?.();
    await third;
    expect(server.requests.length).toBe(2);
  });

  it('runs over redirects', async () => {
    const server = await outside((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/never' }).end();
    });
    expect(
      await faultOf(door().request(get(server.origin, { redirects: 'follow', deadlineMs: 60 }))),
    ).toMatch(/^timeout: /);
  });
});

describe('size', () => {
  const encodings: [string, (data: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', (data) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ];

  it.each(encodings)('of a %s answer is counted after decoding', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(50_000_000));
    const server = await outside((request, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(request.url === '/bomb' ? bomb : compress(Buffer.from('plain words')));
    });
    const http = door();
    expect(text((await http.request(get(server.origin))).bytes)).toBe('plain words');
    expect(await faultOf(http.request(get(`${server.origin}/bomb`)))).toBe(
      `too_large: 127.0.0.2:${server.port} answered with more than 976 KiB`,
    );
    const cut = await http.request(get(`${server.origin}/bomb`, { overflow: 'cut', maxBytes: 1_000 }));
    expect(cut.bytes.length).toBe(1_000);
  });

  it('cuts a longer answer where the caller only wants its beginning', async () => {
    const server = await outside((_, response) => {
      response.write('0123456789');
      response.write('0123456789');
    });
    const answer = await door().request(get(server.origin, { maxBytes: 15, overflow: 'cut' }));
    expect([answer.status, text(answer.bytes)]).toEqual([200, '012345678901234']);
  });

  it('refuses a longer answer by default, and takes one of exactly the size', async () => {
    const server = await outside((_, response) => response.end('0123456789'));
    expect((await door().request(get(server.origin, { maxBytes: 10 }))).bytes.length).toBe(10);
    expect(await faultOf(door().request(get(server.origin, { maxBytes: 9 })))).toBe(
      `too_large: 127.0.0.2:${server.port} answered with more than 9 bytes`,
    );
  });

  it.each([
    ['gzip', 'this is not gzip', 'answered with broken compression'],
    ['zstd', '', 'answered in a content encoding that is not supported'],
  ])('is not known of an answer whose %s encoding cannot be read', async (encoding, body, reason) => {
    const server = await outside((_, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(body);
    });
    expect(await faultOf(door().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} ${reason}`,
    );
  });

  it('of a compressed answer that breaks off is what came', async () => {
    const server = await outside((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('word '.repeat(10)).subarray(0, -9));
    });
    expect(text((await door().request(get(server.origin))).bytes)).toMatch(/^word /);
  });
});

describe('connections', () => {
  it('are kept alive, and capped per origin', async () => {
    const server = await outside((request, response) => {
      request.resume();
      request.on('end', () => response.end('ok'));
    });
    const http = door({ connectionsPerOrigin: 3 });
    const post = () => http.request(get(server.origin, { method: 'POST', body: '{"a":1}' }));
    await Promise.all(Array.from({ length: 60 }, post));
    expect(server.requests.length).toBe(60);
    expect(server.connections()).toBe(3);
  });

  it('that are refused or cut short are told in plain words', async () => {
    const server = await outside((request) => request.socket.destroy());
    expect(await faultOf(door().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} closed the connection before the answer was complete`,
    );
    await server.close();
    expect(await faultOf(door().request(get(server.origin)))).toBe(
      `network: 127.0.0.2:${server.port} refused the connection`,
    );
  });

  it('carry our user agent, unless the request names its own', async () => {
    const server = await outside((request, response) => response.end(request.headers['user-agent']));
    const http = door({ userAgent: 'earshot/1' });
    expect(text((await http.request(get(server.origin))).bytes)).toBe('earshot/1');
    const own = await http.request(get(server.origin, { headers: { 'user-agent': 'own' } }));
    expect(text(own.bytes)).toBe('own');
  });

  it('end when the door closes, and nothing is sent after', async () => {
    const server = await outside(() => undefined);
    const http = door();
    const pending = faultOf(http.request(get(server.origin)));
    await expect.poll(() => server.requests.length).toBe(1);
    await http.close();
    expect(await pending).toMatch(/^network: /);
    expect(await faultOf(http.request(get(server.origin)))).toMatch(/^network: /);
  });
});
