import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createOutboundHttp } from '#http-out';
import { SPEC_NOW, criteriaOf, fakeContext } from './testing/fake-upstream.js';
import { createRssConnector } from './rss/index.js';
import { FEED_URL, rss, rssItems } from './rss/testing/fixtures.js';
import { createUpstreamHttp } from './index.js';

describe('a source with the real outbound client', () => {
  let server: Server;
  let origin: string;
  const strictHttp = createOutboundHttp({ allow: [], userAgent: 'Earshot/spec' });
  const allowingHttp = createOutboundHttp({ allow: ['127.0.0.0/8'], userAgent: 'Earshot/spec' });
  const userAgents: (string | undefined)[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      userAgents.push(request.headers['user-agent']);
      if (request.url === '/feed.xml') return void response.writeHead(301, { location: '/moved.xml' }).end();
      if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304).end();
      const feed = gzipSync(rss(rssItems([{ n: 1, at: SPEC_NOW }])));
      response.writeHead(200, { 'content-encoding': 'gzip', etag: '"1"' }).end(feed);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await Promise.all([strictHttp.close(), allowingHttp.close()]);
    await new Promise((resolve) => server.close(resolve));
  });

  const read = (http: ReturnType<typeof createUpstreamHttp>, feedUrl: string, state = {}) =>
    createRssConnector().search(
      criteriaOf({ filters: { feed_urls: [feedUrl] } }),
      fakeContext(http, { state }),
    );

  it('reads a compressed and moved feed that EGRESS_ALLOW permits, and returns no entries if the feed is unchanged', async () => {
    const http = createUpstreamHttp({ source: 'rss', http: allowingHttp });
    const state = {};
    expect((await read(http, `${origin}/feed.xml`, state)).items.length).toBe(1);
    expect(state).toEqual({
      feeds: { [`${origin}/feed.xml`]: { etag: '"1"', movedTo: `${origin}/moved.xml` } },
    });
    expect((await read(http, `${origin}/feed.xml`, state)).items).toEqual([]);
    expect(new Set(userAgents)).toEqual(new Set(['Earshot/spec']));
  });

  it('does not read a feed on a private address', async () => {
    const http = createUpstreamHttp({ source: 'rss', http: strictHttp });
    await expect(read(http, `${origin}/feed.xml`)).rejects.toMatchObject({ kind: 'blocked' });
  });

  it('sends all requests to the address that the operator set, but returns the original host names', async () => {
    const http = createUpstreamHttp({ source: 'rss', http: strictHttp, baseUrl: origin });
    const state = {};
    const { items } = await read(http, FEED_URL, state);
    expect(items[0]?.url).toBe('https://news.lamps.example/1?a=1&b=2');
    expect(state).toMatchObject({
      feeds: { [FEED_URL]: { movedTo: 'https://news.lamps.example/moved.xml' } },
    });
  });
});
