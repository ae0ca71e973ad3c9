import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import type { SimPost } from '../../world/post.js';
import { statusTest } from './query.js';
import { accountOf, HOME, statusOf, tagsOf, uriOf } from './statuses.js';
import type { SimulatedSource } from '../simulated-source.js';

const PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 40;
/** Maximum number of tags in each of `any`, `all` and `none`. The tag in the path is the first tag of `any`. */
const MAX_TAGS = 4;
const SERVED = { config: { source: 'mastodon' as const } };
const TEXTS: Record<number, string> = {
  401: 'The access token is invalid',
  403: 'This action is not allowed',
  404: 'Not Found',
  429: 'Too many requests',
  503: 'There was a temporary problem serving your request, please try again',
};

/**
 * An instance with the settings of large instances: full-text search and the public timeline for signed-in users,
 * hashtags for everybody. The routes answer for every instance that a search names.
 */
export const mastodonSource: SimulatedSource = {
  routes,
  itemIdOf: uriOf,
  refuse: (reply, status, message) =>
    // Errors that do not come from Mastodon's own code contain their status.
    answer(reply, status, TEXTS[status] ? { error: TEXTS[status] } : { status, error: message }),
};

interface ParsedRequest {
  one(key: string): string | undefined;
  all(key: string): string[];
  request: FastifyRequest;
  reply: FastifyReply;
  signedIn: boolean;
}

function routes(app: FastifyInstance, context: SimContext): void {
  const { world } = context;
  const window = new RequestWindow(context.clock, context.limits.mastodon, 300);
  const counted =
    (respond: (asked: ParsedRequest) => FastifyReply) => (request: FastifyRequest, reply: FastifyReply) => {
      const within = window.take();
      void reply
        .header('X-RateLimit-Limit', window.limit)
        .header('X-RateLimit-Remaining', window.remaining)
        // As in Mastodon, the time has microseconds.
        .header('X-RateLimit-Reset', new Date(window.resetsAt).toISOString().replace('Z', '000Z'));
      if (!within) return answer(reply, 429, { error: TEXTS[429] });
      const token = /^bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (token === '' || token === 'wrong') {
        const challenge =
          'Bearer realm="Doorkeeper", error="invalid_token", error_description="The access token is invalid"';
        return answer(reply.header('WWW-Authenticate', challenge), 401, { error: TEXTS[401] });
      }
      return respond({ ...queryOf(request), request, reply, signedIn: token !== undefined });
    };

  app.get(
    '/api/v2/search',
    SERVED,
    counted((asked) => search(world.posts('mastodon'), asked)),
  );
  app.get(
    '/api/v1/timelines/tag/:tag',
    SERVED,
    counted((asked) => {
      const { tag } = asked.request.params as { tag: string };
      const path = `${context.baseUrl()}/api/v1/timelines/tag/${encodeURIComponent(tag)}`;
      return timeline(tagged(world.posts('mastodon'), tag, asked), path, asked);
    }),
  );
  app.get(
    '/api/v1/timelines/public',
    SERVED,
    counted((asked) => {
      const error = 'This method requires an authenticated user';
      if (!asked.signedIn) return answer(asked.reply, 422, { error });
      return timeline(world.posts('mastodon'), `${context.baseUrl()}/api/v1/timelines/public`, asked);
    }),
  );
  app.get(
    '/api/v1/statuses/:id',
    SERVED,
    counted(({ request, reply, signedIn }) => {
      const post = world.find('mastodon', (request.params as { id: string }).id);
      return post ? answer(reply, 200, statusOf(post, signedIn)) : answer(reply, 404, { error: TEXTS[404] });
    }),
  );
}

/** Finds statuses. The simulator finds no accounts and no hashtags. */
function search(posts: readonly SimPost[], { one, reply, signedIn }: ParsedRequest): FastifyReply {
  const q = one('q') ?? '';
  if (q === '') return answer(reply, 400, { error: 'param is missing or the value is empty or invalid: q' });
  if (!signedIn && one('offset') !== undefined) {
    const error = 'Search queries pagination is not supported without authentication';
    return answer(reply, 401, { error });
  }
  if (!signedIn && isTrue(one('resolve'))) {
    const error = 'Search queries that resolve remote resources are not supported without authentication';
    return answer(reply, 401, { error });
  }
  const [limit, offset] = [limitOf(one('limit')), Number(one('offset') ?? 0)];
  if (!(offset >= 0)) {
    return answer(reply, 400, { error: 'Pagination values for `offset` and `limit` must be positive' });
  }
  const wanted = ['statuses', undefined].includes(one('type')) && signedIn;
  const found = wanted
    ? newest(posts, { after: one('min_id') ?? '0', before: one('max_id') }, statusTest(q))
    : [];
  const statuses = found.slice(offset, offset + limit).map((post) => statusOf(post, signedIn));
  return answer(reply, 200, { accounts: [], statuses, hashtags: [], collections: [] });
}

/** Returns the posts with the tags. If no post has the tag `first`, the result is empty, as in Mastodon. */
function tagged(posts: readonly SimPost[], first: string, { all }: ParsedRequest): SimPost[] {
  const few = (tags: string[]) => tags.map((tag) => tag.toLowerCase()).slice(0, MAX_TAGS);
  const any = few([first, ...all('any[]')]);
  const [each, none] = [few(all('all[]')), few(all('none[]'))];
  const withTags = posts.map((post) => ({ post, tags: tagsOf(post).map((tag) => tag.toLowerCase()) }));
  if (!withTags.some(({ tags }) => tags.includes(first.toLowerCase()))) return [];
  return withTags
    .filter(
      ({ tags }) =>
        any.some((tag) => tags.includes(tag)) &&
        each.every((tag) => tags.includes(tag)) &&
        !none.some((tag) => tags.includes(tag)),
    )
    .map(({ post }) => post);
}

/**
 * Answers with one page by `max_id`, `since_id`, `min_id` and `limit`; the header `Link` contains the addresses of the
 * previous and the next page.
 */
function timeline(
  posts: readonly SimPost[],
  path: string,
  { one, reply, signedIn }: ParsedRequest,
): FastifyReply {
  const limit = limitOf(one('limit'));
  const minId = one('min_id');
  const found = newest(posts, { after: minId ?? one('since_id') ?? '0', before: one('max_id') }, (post) => {
    const isLocal = accountOf(post).host === HOME;
    if (isTrue(one('only_media'))) return false;
    return !(isTrue(one('local')) && !isLocal) && !(isTrue(one('remote')) && isLocal);
  });
  // With `min_id`, the page contains the posts directly after that id, not the newest posts.
  const shown = minId === undefined ? found.slice(0, limit) : found.slice(-limit || found.length);
  const [newestShown, oldestShown] = [shown[0], shown.at(-1)];
  if (newestShown && oldestShown) {
    const kept = ['limit', 'local', 'only_media', 'remote'].flatMap((key) => {
      const value = one(key);
      return value === undefined ? [] : [[key, value] as const];
    });
    const link = (rel: string, key: string, id: string) => {
      const query = new URLSearchParams([...kept, [key, id]] as [string, string][]);
      query.sort();
      return `<${path}?${query}>; rel="${rel}"`;
    };
    void reply.header(
      'Link',
      `${link('next', 'max_id', oldestShown.id)}, ${link('prev', 'min_id', newestShown.id)}`,
    );
  }
  return answer(
    reply,
    200,
    shown.map((post) => statusOf(post, signedIn)),
  );
}

/** Returns the posts between two ids, newest first. */
function newest(
  posts: readonly SimPost[],
  { after, before }: { after: string; before: string | undefined },
  isWanted: (post: SimPost) => boolean,
): SimPost[] {
  const [low, high] = [numberIn(after) ?? 0n, numberIn(before)];
  // `posts` is in the order of publication, so the reversed list begins with the newest post.
  return posts
    .filter((post) => {
      if (!isWanted(post)) return false;
      const id = BigInt(post.id);
      return id > low && (high === undefined || id < high);
    })
    .reverse();
}

function numberIn(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

function limitOf(text: string | undefined): number {
  return text === undefined ? PAGE_SIZE : Math.min(MAX_PAGE_SIZE, Math.abs(Number.parseInt(text, 10) || 0));
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && !['', '0', 'f', 'false', 'off'].includes(text.toLowerCase());
}
