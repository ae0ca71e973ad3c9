import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { SimContext } from '../../context.js';
import { FEEDS } from '../../world/phrases.js';
import type { SimPost } from '../../world/post.js';
import { atomFeed, jsonFeed, rdfFeed, rssFeed } from './formats.js';
import type { Feed } from './formats.js';
import type { SimulatedSource } from '../simulated-source.js';

/** Maximum number of articles in a feed. */
const FEED_LENGTH = 50;
const SERVED = { config: { source: 'rss' as const } };

const FORMATS: Record<string, { type: string; write(feed: Feed): string }> = {
  rss: { type: 'application/rss+xml; charset=utf-8', write: rssFeed },
  atom: { type: 'application/atom+xml; charset=utf-8', write: atomFeed },
  rdf: { type: 'application/rdf+xml; charset=utf-8', write: rdfFeed },
  json: { type: 'application/feed+json; charset=utf-8', write: jsonFeed },
};

/**
 * `/feeds/{name}.{rss,atom,rdf,json}`: the newest articles of one feed, with ETag and Last-Modified. A feed exists if
 * it is one of the invented feeds, or if a test has published to it; `all` contains the newest articles of all feeds.
 */
export const rssSource: SimulatedSource = {
  routes,
  itemIdOf: () => undefined,
  refuse: (reply, status, message) =>
    reply.code(status).type('text/html').send(`<html><body><h1>${status} ${message}</h1></body></html>`),
  changeShape: (reply) =>
    reply.code(200).type('text/xml').send('<?xml version="1.0"?><opml version="2.0"><body/></opml>'),
};

function routes(app: FastifyInstance, { world, baseUrl }: SimContext): void {
  app.get<{ Params: { file: string } }>('/feeds/:file', SERVED, (request, reply) => {
    const [, name = '', extension = ''] = /^(.+)\.(\w+)$/.exec(request.params.file) ?? [];
    const format = FORMATS[extension];
    const articles = newestOf(world.posts('rss'), name);
    if (!format || (articles.length === 0 && !FEEDS.includes(name) && name !== 'all')) {
      return reply.code(404).type('text/html').send('<html><body><h1>404 Not Found</h1></body></html>');
    }
    const newestAt = Math.floor((articles[0]?.publishedAt ?? world.startedAt) / 1000) * 1000;
    const body = format.write({
      name,
      url: `${baseUrl()}/feeds/${request.params.file}`,
      updatedAt: newestAt,
      articles,
    });
    const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
    void reply.header('ETag', etag).header('Last-Modified', new Date(newestAt).toUTCString());
    const asked = request.headers['if-none-match'];
    const modifiedSince = Date.parse(request.headers['if-modified-since'] ?? '');
    // By RFC 9110, `If-Modified-Since` is used only if the request has no `If-None-Match`.
    const unchanged = asked !== undefined ? tagsOf(asked).includes(etag) : modifiedSince >= newestAt;
    return unchanged ? reply.code(304).send() : reply.type(format.type).send(body);
  });
}

function newestOf(posts: readonly SimPost[], feed: string): SimPost[] {
  const articles: SimPost[] = [];
  for (let i = posts.length - 1; i >= 0 && articles.length < FEED_LENGTH; i--) {
    if (feed === 'all' || posts[i]!.community === feed) articles.push(posts[i]!);
  }
  return articles;
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
