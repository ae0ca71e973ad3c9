import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import type { SimPost } from '../../world/post.js';
import type { SimulatedSource } from '../simulated-source.js';
import { commentsAreOff, commentsOf, threadOf } from './comments.js';
import { INVALID_PAGE_TOKEN, invalidParameter, problem, problemOf, refuse } from './problems.js';
import type { Method } from './problems.js';
import { parseYoutubeQuery } from './query.js';
import { channelIdOf, durationOf, etagOf, searchResultOf, videoOf } from './videos.js';

/** Maximum number of results of any search. */
const SEARCH_LIMIT = 500;
const NEWEST_FIRST = 'get_newest_first--';
const SERVED = { config: { source: 'youtube' as const } };
const SEARCH: Method = {
  known:
    'part q type order publishedAfter publishedBefore maxResults pageToken relevanceLanguage regionCode channelId videoDuration key'.split(
      ' ',
    ),
  required: ['part'],
  parts: ['id', 'snippet'],
  results: { min: 0, max: 50, usual: 5 },
};
const VIDEOS: Method = {
  known: ['part', 'id', 'maxResults', 'key'],
  required: ['part', 'id'],
  parts: ['id', 'snippet', 'contentDetails', 'statistics'],
  results: { min: 1, max: 50, usual: 5 },
};
const COMMENT_THREADS: Method = {
  known: ['part', 'videoId', 'order', 'textFormat', 'maxResults', 'pageToken', 'key'],
  required: ['part', 'videoId'],
  parts: ['id', 'snippet', 'replies'],
  results: { min: 1, max: 100, usual: 20 },
};

/** YouTube's Data API v3: `search`, `videos` and `commentThreads`. Its quotas are not counted. */
export const youtubeSource: SimulatedSource = { routes, refuse };

function routes(app: FastifyInstance, { world, clock }: SimContext): void {
  app.get('/youtube/v3/search', SERVED, (request, reply) => {
    const wrong = problemOf(request, SEARCH);
    return wrong ? problem(reply, wrong) : search(world.posts('youtube'), request, reply);
  });
  app.get('/youtube/v3/videos', SERVED, (request, reply) => {
    const wrong = problemOf(request, VIDEOS);
    if (wrong) return problem(reply, wrong);
    const { one } = queryOf(request);
    const ids = [...new Set(one('id')?.split(','))];
    if (ids.length > 50) return problem(reply, invalidParameter('id', 'Too many ids.'));
    const parts = one('part')!.split(',');
    const now = clock.now().getTime();
    const items = ids.flatMap((id) => {
      const post = world.find('youtube', id);
      if (!post) return [];
      return [videoOf(post, parts, commentsAreOff(post) ? undefined : commentsOf(post, now).length)];
    });
    const pageInfo = { totalResults: items.length, resultsPerPage: items.length };
    const etag = etagOf(`videos ${request.url}`);
    return answer(reply, 200, { kind: 'youtube#videoListResponse', etag, items, pageInfo });
  });
  app.get('/youtube/v3/commentThreads', SERVED, (request, reply) => {
    const wrong = problemOf(request, COMMENT_THREADS);
    if (wrong) return problem(reply, wrong);
    const post = world.find('youtube', queryOf(request).one('videoId') ?? '');
    return commentThreads(post, clock.now().getTime(), request, reply);
  });
}

function search(posts: readonly SimPost[], request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { one } = queryOf(request);
  const order = ORDERS[one('order') ?? 'relevance'];
  if (!order) return problem(reply, invalidParameter('order', `Invalid value '${one('order')}'.`));
  const [after, before] = [one('publishedAfter'), one('publishedBefore')].map((text) => instantOf(text));
  const wrongTime = Number.isNaN(after) ? 'publishedAfter' : Number.isNaN(before) ? 'publishedBefore' : '';
  if (wrongTime) return problem(reply, invalidParameter(wrongTime, 'Invalid time: RFC 3339 is wanted.'));
  const size = Number(one('maxResults') ?? SEARCH.results.usual);
  const start = startOf(one('pageToken'), size);
  if (start === undefined) return problem(reply, INVALID_PAGE_TOKEN);

  const matches = parseYoutubeQuery(one('q') ?? '');
  const [channelId, length] = [one('channelId'), one('videoDuration') ?? 'any'];
  const isVideo = (one('type') ?? 'video').split(',').includes('video');
  const found = posts.filter((post) => {
    const at = Math.floor(post.publishedAt / 1000) * 1000;
    if (!isVideo || (after !== undefined && at < after) || (before !== undefined && at >= before))
      return false;
    if (channelId !== undefined && channelIdOf(post.author) !== channelId) return false;
    return (length === 'any' || lengthName(post) === length) && matches(post);
  });
  const sorted = [...found].reverse().sort(order).slice(0, SEARCH_LIMIT);
  const shown = sorted.slice(start, start + size);
  const hasNext = size > 0 && start + size < sorted.length;
  return answer(reply, 200, {
    kind: 'youtube#searchListResponse',
    etag: etagOf(`search ${request.url} ${found.length}`),
    ...(hasNext && { nextPageToken: pageToken(start + size, false) }),
    ...(start > 0 && { prevPageToken: pageToken(start, true) }),
    regionCode: one('regionCode') ?? 'US',
    pageInfo: { totalResults: found.length, resultsPerPage: size },
    items: shown.map(searchResultOf),
  });
}

function commentThreads(
  post: SimPost | undefined,
  now: number,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const about = { domain: 'youtube.commentThread', location: 'videoId' };
  const parameter =
    '<code><a href="/youtube/v3/docs/commentThreads/list#videoId">videoId</a></code> parameter';
  if (!post) {
    const message = `The video identified by the ${parameter} could not be found.`;
    return problem(reply, { code: 404, reason: 'videoNotFound', message, ...about });
  }
  if (commentsAreOff(post)) {
    const message = `The video identified by the ${parameter} has disabled comments.`;
    return problem(reply, { code: 403, reason: 'commentsDisabled', message, ...about });
  }
  const { one } = queryOf(request);
  const comments = commentsOf(post, now).reverse();
  if (one('order') === 'relevance') comments.sort((a, b) => b.likes - a.likes);
  const size = Number(one('maxResults') ?? COMMENT_THREADS.results.usual);
  const token = one('pageToken');
  const place = token === undefined ? '' : Buffer.from(token, 'base64url').toString();
  const last = comments.findIndex(({ id }) => place === NEWEST_FIRST + id);
  if (token !== undefined && last < 0) return problem(reply, INVALID_PAGE_TOKEN);
  const shown = comments.slice(last + 1, last + 1 + size);
  const hasNext = last + 1 + size < comments.length;
  const parts = one('part')!.split(',');
  return answer(reply, 200, {
    kind: 'youtube#commentThreadListResponse',
    etag: etagOf(`threads ${request.url} ${comments.length}`),
    ...(hasNext && {
      nextPageToken: Buffer.from(NEWEST_FIRST + shown.at(-1)!.id).toString('base64url'),
    }),
    pageInfo: { totalResults: shown.length, resultsPerPage: size },
    items: shown.map((comment) => threadOf(comment, post, parts, one('textFormat') === 'plainText')),
  });
}

type Order = (a: SimPost, b: SimPost) => number;

const byScore: Order = (a, b) => b.score - a.score;
const ORDERS: Record<string, Order> = {
  date: (a, b) => b.publishedAt - a.publishedAt,
  title: (a, b) => a.title.localeCompare(b.title),
  relevance: byScore,
  rating: byScore,
  viewCount: byScore,
};

function lengthName(post: SimPost): string {
  const seconds = durationOf(post);
  return seconds < 240 ? 'short' : seconds <= 1_200 ? 'medium' : 'long';
}

/** Returns the time in ms; undefined for no text, NaN for a text that is not a valid time. */
function instantOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN;
}

/**
 * Returns a position in a list, encoded like protocol buffers with two numbers: the offset, and a flag for a page that
 * ends at this offset.
 */
function pageToken(offset: number, isEnd: boolean): string {
  const varint = offset < 128 ? [offset] : [(offset & 127) | 128, offset >> 7];
  return Buffer.from([0x08, ...varint, 0x10, isEnd ? 1 : 0]).toString('base64url');
}

/** Returns the start of a token's page; undefined if the token is not valid. */
function startOf(token: string | undefined, size: number): number | undefined {
  if (token === undefined) return 0;
  const [, low = 0, ...rest] = Buffer.from(token, 'base64url');
  const offset = low < 128 ? low : (low & 127) | ((rest.shift() ?? 0) << 7);
  const isEnd = rest[1] === 1;
  if (pageToken(offset, isEnd) !== token) return undefined;
  return isEnd ? Math.max(0, offset - size) : offset;
}
