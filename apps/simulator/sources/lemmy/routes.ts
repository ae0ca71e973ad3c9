import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { COMMUNITIES } from '../../world/phrases.js';
import type { SimPost } from '../../world/post.js';
import {
  apIdOf,
  commentView,
  communityNameOf,
  communityView,
  personView,
  postView,
  siteView,
} from './views.js';
import type { SimulatedSource } from '../simulated-source.js';

/** The version of the simulated server. 0.19 is the last release line whose main API is v3. */
const VERSION = '0.19.20';
const PAGE_SIZE = 10;
const MAX_PAGE_SIZE = 50;
const LISTS_A_MINUTE = 180;
const SERVED = { config: { source: 'lemmy' as const } };

/**
 * A server with Lemmy 0.19 that shows its posts to everybody: `/api/v3/site`, `search`, `post/list` and
 * `comment/list`. Like the real server, it does not refuse wrong tokens. The routes answer for every instance that a
 * search names.
 */
export const lemmySource: SimulatedSource = {
  routes,
  itemIdOf: apIdOf,
  refuse(reply, status, message) {
    switch (status) {
      case 401:
        return answer(reply, 401, { error: 'incorrect_login' });
      case 404:
        return answer(reply, 404, { error: 'couldnt_find_post' });
      case 429:
        // Version 1.0 and the servers in front of an instance answer in this way; 0.19 itself answers 400.
        return answer(reply, 429, { error: 'rate_limit_error' });
      case 500:
        return answer(reply, 500, { error: 'unknown', message });
      default: {
        const page = `<html>\r\n<head><title>${status} ${message}</title></head>\r\n<body>\r\n<center><h1>${status} ${message}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
        return reply.code(status).type('text/html').send(page);
      }
    }
  },
};

interface ParsedRequest {
  one(key: string): string | undefined;
  reply: FastifyReply;
  posts: readonly SimPost[];
}

function routes(app: FastifyInstance, context: SimContext): void {
  const { clock, world, limits } = context;
  const searches = new RequestWindow(clock, limits.lemmy, 600);
  const lists = new RequestWindow(clock, LISTS_A_MINUTE, 60);
  const counted =
    (window: RequestWindow, respond: (asked: ParsedRequest) => FastifyReply) =>
    (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      // No header reports the remaining requests or the time to wait.
      if (!window.take()) return answer(reply, 400, { error: 'rate_limit_error' });
      return respond({ one: queryOf(request).one, reply, posts: world.posts('lemmy') });
    };
  app.get(
    '/api/v3/site',
    SERVED,
    counted(lists, ({ reply }) => answer(reply, 200, siteView(VERSION))),
  );
  app.get('/api/v3/search', SERVED, counted(searches, search));
  app.get('/api/v3/post/list', SERVED, counted(lists, postList));
  app.get('/api/v3/comment/list', SERVED, counted(lists, commentList));
  // This version has nothing under v4.
  app.get('/api/v4/*', SERVED, (_, reply) => reply.code(404).send());
}

/**
 * Answers a search. `page` selects one page of each list: of the posts, the comments, the communities and the users.
 */
function search(asked: ParsedRequest): FastifyReply {
  const { one, reply, posts } = asked;
  const q = one('q');
  if (q === undefined) return unknown(reply, 'Query deserialize error: missing field `q`');
  const slice = sliceOf(asked);
  if (typeof slice === 'string') return unknown(reply, slice);
  const type = one('type_') ?? 'All';
  const wants = (what: string) => type === 'All' || type === what;
  const holds = containsTest(q);
  const found = inOrder(posts.filter(placeTest(asked)), one('sort'));
  const titleOnly = one('post_title_only') === 'true';
  const isFound = ({ title, text }: SimPost) => holds(title) || (!titleOnly && holds(text));
  const page = (all: readonly SimPost[]) => all.slice(slice.from, slice.to);
  const authors = [...new Map(posts.map((post) => [post.author, post])).values()];
  return answer(reply, 200, {
    type_: type,
    posts: wants('Posts')
      ? page(found.filter((post) => post.kind !== 'comment' && isFound(post))).map(postView)
      : [],
    comments: wants('Comments')
      ? page(found.filter((post) => post.kind === 'comment' && holds(post.text))).map(commentView)
      : [],
    communities: wants('Communities')
      ? communityNames(posts)
          .filter(holds)
          .slice(slice.from, slice.to)
          .map((name) => communityView(name, posts))
      : [],
    users: wants('Users')
      ? page(authors.filter(({ author }) => holds(author))).map((post) => personView(post, posts))
      : [],
  });
}

/** Answers with one page of the posts, by `page` or by the cursor of the previous page. */
function postList(asked: ParsedRequest): FastifyReply {
  const { one, reply, posts } = asked;
  const slice = sliceOf(asked);
  if (typeof slice === 'string') return answer(reply, 400, { error: 'couldnt_get_posts' });
  const isHere = placeTest(asked);
  const found = inOrder(
    posts.filter((post) => post.kind !== 'comment' && isHere(post)),
    one('sort'),
  );
  const cursor = one('page_cursor');
  let { from } = slice;
  if (cursor !== undefined) {
    const id = /^P([0-9a-f]+)$/.exec(cursor)?.[1];
    const before =
      id === undefined ? -1 : found.findIndex((post) => Number(post.id) === Number.parseInt(id, 16));
    if (before < 0) return answer(reply, 400, { error: 'couldnt_parse_pagination_token' });
    from = before + 1;
  }
  const shown = found.slice(from, from + slice.to - slice.from);
  const last = shown.at(-1);
  return answer(reply, 200, {
    posts: shown.map(postView),
    ...(last && { next_page: `P${Number(last.id).toString(16)}` }),
  });
}

function commentList(asked: ParsedRequest): FastifyReply {
  const { one, reply, posts } = asked;
  const slice = sliceOf(asked);
  if (typeof slice === 'string') return answer(reply, 400, { error: 'couldnt_get_comments' });
  const [isHere, postId] = [placeTest(asked), one('post_id')];
  const found = inOrder(
    posts.filter(
      (post) => post.kind === 'comment' && isHere(post) && (postId === undefined || post.root?.id === postId),
    ),
    one('sort'),
  );
  return answer(reply, 200, { comments: found.slice(slice.from, slice.to).map(commentView) });
}

/** Returns the requested part of a list, or the reason for a refusal. */
function sliceOf({ one }: ParsedRequest): { from: number; to: number } | string {
  const [page, limit] = [Number(one('page') ?? 1), Number(one('limit') ?? PAGE_SIZE)];
  if (!Number.isInteger(page) || page < 1) return 'Page is < 1';
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    return `Fetch limit is > ${MAX_PAGE_SIZE}`;
  return { from: (page - 1) * limit, to: page * limit };
}

/**
 * Returns a function that tests whether a post belongs to the requested community. An unknown community is ignored, as
 * if the request named no community.
 */
function placeTest({ one, posts }: ParsedRequest): (post: SimPost) => boolean {
  const name = communityNameOf(one('community_name') ?? '');
  if (!communityNames(posts).includes(name)) return () => true;
  return ({ community }) => community === name;
}

function communityNames(posts: readonly SimPost[]): string[] {
  return [...new Set([...COMMUNITIES, ...posts.map(({ community }) => community)])];
}

function inOrder(posts: readonly SimPost[], sort = 'New'): SimPost[] {
  if (sort === 'Old') return [...posts];
  const newestFirst = [...posts].reverse();
  return sort.startsWith('Top') ? newestFirst.sort((a, b) => b.score - a.score) : newestFirst;
}

/** Returns a function that tests whether a text contains the words in their order, with any text between them. */
function containsTest(q: string): (text: string) => boolean {
  const parts = q.split(' ').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(parts.join('.*'), 'isu');
  return (text) => pattern.test(text);
}

function unknown(reply: FastifyReply, message: string): FastifyReply {
  return answer(reply, 400, { error: 'unknown', message });
}
