import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf } from '../../context.js';
import type { SimContext } from '../../context.js';
import type { SimPost } from '../../world/post.js';
import { fieldsOf, filtered, filterName } from './filters.js';
import {
  answerOf,
  answersOf,
  isKnownSite,
  newestOf,
  questionOf,
  questionTest,
  siteOf,
  tagsOf,
} from './posts.js';
import type { SimulatedSource } from '../simulated-source.js';

const MAX_PAGE_SIZE = 100;
const LAST_PAGE_WITHOUT_KEY = 25;
const SERVED = { config: { source: 'stackoverflow' as const }, onSend: compress };

/**
 * The Stack Exchange API 2.3 without sign-in: `/search/advanced`, `/questions`, `/questions/{ids}`, `/answers` and
 * `/filters/create`. A post's community is its site; the default is Stack Overflow.
 */
export const stackoverflowSource: SimulatedSource = {
  routes,
  itemIdOf: (post) => `${siteOf(post)}:${post.kind}:${post.id}`,
  refuse(reply, status, message) {
    switch (status) {
      case 401:
        return refusal(reply, 401, 'access_token_required', 'This method requires an access token');
      case 403:
        return refusal(reply, 403, 'access_denied', 'page above 25 requires access token or app key');
      case 404:
        return refusal(reply, 400, 'bad_parameter', 'No site found for name `nowhere`');
      case 429: {
        const seconds = Number(reply.getHeader('retry-after') ?? 60);
        return throttled(reply, seconds);
      }
      case 500:
        return refusal(reply, 500, 'internal_error', 'an error has occurred');
      case 503:
        return refusal(reply, 503, 'temporarily_unavailable', 'temporarily unavailable');
      default: {
        const page = `<html><head><title>${status} ${message}</title></head><body><h1>${status} ${message}</h1></body></html>`;
        return reply.code(status).type('text/html').send(page);
      }
    }
  },
};

function routes(app: FastifyInstance, context: SimContext): void {
  const quotas = { keyed: new DailyQuota(context), keyless: new DailyQuota(context, 0.03) };
  const counted =
    (respond: (asked: ParsedRequest) => FastifyReply) => (request: FastifyRequest, reply: FastifyReply) => {
      const { one } = queryOf(request);
      const key = one('key');
      if (key === '' || key === 'wrong')
        return refusal(reply, 400, 'bad_parameter', "`key` doesn't match a known application");
      const quota = key === undefined ? quotas.keyless : quotas.keyed;
      if (!quota.take()) return throttled(reply, quota.secondsLeft);
      return respond({ one, request, reply, quota, posts: context.world.posts('stackoverflow') });
    };
  const ofKind = (kind: 'question' | 'answer') => (asked: ParsedRequest) =>
    answerListing(
      asked,
      kind,
      (post) => post.kind === kind && hasTags(post, tagsIn(asked.one('tagged')), 'all'),
    );

  app.get(
    '/2.3/search/advanced',
    SERVED,
    counted((asked) => answerListing(asked, 'question', searchTest(asked))),
  );
  app.get('/2.3/questions', SERVED, counted(ofKind('question')));
  app.get('/2.3/answers', SERVED, counted(ofKind('answer')));
  app.get<{ Params: { ids: string } }>(
    '/2.3/questions/:ids',
    SERVED,
    counted((asked) => {
      const ids = (asked.request.params as { ids: string }).ids.split(';');
      if (ids.length > 100 || !ids.every((id) => /^\d+$/.test(id)))
        return refusal(asked.reply, 400, 'bad_parameter', 'ids');
      return answerListing(asked, 'question', (post) => post.kind === 'question' && ids.includes(post.id));
    }),
  );
  app.get('/2.3/filters/create', SERVED, counted(makeFilter));
  app.get('/2.3/*', SERVED, (_, reply) => refusal(reply, 404, 'no_method', 'no method found with this name'));
}

interface ParsedRequest {
  one(key: string): string | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
  quota: DailyQuota;
  posts: readonly SimPost[];
}

/**
 * Counts the requests of a UTC day. `share`: the part of the limit that is allowed (3 % for requests without a key).
 */
class DailyQuota {
  private day = '';
  private used = 0;
  readonly max: number;

  constructor(
    private readonly context: SimContext,
    share = 1,
  ) {
    this.max = Math.ceil(context.limits.stackoverflow * share);
  }

  /** Counts one request; returns false if the request exceeds the quota. */
  take(): boolean {
    const today = this.context.clock.now().toISOString().slice(0, 10);
    if (today !== this.day) {
      this.day = today;
      this.used = 0;
    }
    this.used += 1;
    return this.used <= this.max;
  }

  get remaining(): number {
    return Math.max(0, this.max - this.used);
  }

  get secondsLeft(): number {
    const now = this.context.clock.now();
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
    return Math.ceil((midnight - now.getTime()) / 1000);
  }
}

/**
 * Answers with one page of questions or answers by `site`, `filter`, `fromdate`, `todate`, `sort`, `order`, `page`,
 * `pagesize`.
 */
function answerListing(
  asked: ParsedRequest,
  kind: 'question' | 'answer',
  isWanted: (post: SimPost) => boolean,
): FastifyReply {
  const { one, reply, posts } = asked;
  const wrong = (message: string) => refusal(reply, 400, 'bad_parameter', message);
  const site = one('site')
    ?.toLowerCase()
    .replace(/\.(stackexchange\.com|com|net)$/, '');
  if (!site) return wrong('site is required');
  if (!isKnownSite(site, posts)) return wrong(`No site found for name \`${site}\``);
  const fields = fieldsOf(one('filter') ?? 'default');
  if (!fields) return wrong('Invalid filter specified');
  const [page, size] = [Number(one('page') ?? 1), Number(one('pagesize') ?? 30)];
  if (!Number.isInteger(page) || page < 1) return wrong('page');
  if (!Number.isInteger(size) || size < 0 || size > MAX_PAGE_SIZE) return wrong('pagesize');
  if (page > LAST_PAGE_WITHOUT_KEY && one('key') === undefined)
    return refusal(reply, 403, 'access_denied', 'page above 25 requires access token or app key');
  const [from, to] = [secondsIn(one('fromdate')), secondsIn(one('todate'))];
  if (Number.isNaN(from)) return wrong('fromdate');
  if (Number.isNaN(to)) return wrong('todate');
  const order = orderOf(one('sort') ?? 'activity');
  if (!order) return wrong('sort');

  const found = posts.filter((post) => {
    const at = Math.floor(post.publishedAt / 1000);
    return siteOf(post) === site && at >= (from ?? 0) && at <= (to ?? Infinity) && isWanted(post);
  });
  found.sort(order);
  if (one('order') !== 'asc') found.reverse();
  const shown = found.slice((page - 1) * size, page * size);
  const things = shown.map((post) =>
    filtered(kind, kind === 'question' ? questionOf(post) : answerOf(post), fields),
  );
  const wrapper = {
    ...wrapped(things, asked, page * size < found.length),
    total: found.length,
    page,
    page_size: size,
  };
  return answer(reply, 200, filtered('', wrapper, fields));
}

function wrapped(items: readonly object[], { quota }: ParsedRequest, hasMore = false): object {
  return { items, has_more: hasMore, quota_max: quota.max, quota_remaining: quota.remaining };
}

/** Creates a filter from another filter, with added and removed fields. */
function makeFilter(asked: ParsedRequest): FastifyReply {
  const list = (key: string) => (asked.one(key) ?? '').split(';').filter(Boolean);
  const parameters = {
    base: asked.one('base') || 'default',
    include: list('include'),
    exclude: list('exclude'),
  };
  const made = filterName(parameters);
  if ('wrong' in made) return refusal(asked.reply, 400, 'bad_parameter', made.wrong);
  const filter = {
    filter: made.name,
    filter_type: asked.one('unsafe') === 'true' ? 'unsafe' : 'safe',
    included_fields: [...(fieldsOf(made.name) ?? [])].sort(),
  };
  return answer(asked.reply, 200, wrapped([filter], asked));
}

/**
 * Returns a function that tests whether a search finds a post. In a search, a question needs only one of the tags; the
 * list of questions requires all tags.
 */
function searchTest({ one }: ParsedRequest): (post: SimPost) => boolean {
  const matches = questionTest(one('q') ?? '');
  const [inTitle, inBody] = [one('title'), one('body')].map((text) => text && questionTest(text));
  const [tagged, notTagged] = [tagsIn(one('tagged')), tagsIn(one('nottagged'))];
  const answers = Number(one('answers') ?? 0);
  return (post) =>
    post.kind === 'question' &&
    matches(post) &&
    (!inTitle || inTitle({ ...post, text: '' })) &&
    (!inBody || inBody({ ...post, title: '' })) &&
    hasTags(post, tagged, 'any') &&
    !(notTagged.length > 0 && hasTags(post, notTagged, 'any')) &&
    answersOf(post).length >= answers;
}

function tagsIn(text: string | undefined): string[] {
  return (text ?? '').toLowerCase().split(';').filter(Boolean);
}

function hasTags(post: SimPost, wanted: readonly string[], how: 'all' | 'any'): boolean {
  const own = tagsOf(post);
  if (how === 'all') return wanted.every((tag) => own.includes(tag));
  return wanted.length === 0 || wanted.some((tag) => own.includes(tag));
}

type Order = (a: SimPost, b: SimPost) => number;

/** Returns the ascending order for a value of `sort`; undefined for an unknown value. */
function orderOf(sort: string): Order | undefined {
  const byTime: Order = (a, b) => a.publishedAt - b.publishedAt || a.number - b.number;
  const byScore: Order = (a, b) => a.score - b.score || byTime(a, b);
  const activityOf = (post: SimPost) => newestOf(post).publishedAt;
  const orders: Record<string, Order> = {
    creation: byTime,
    votes: byScore,
    relevance: byScore,
    activity: (a, b) => activityOf(a) - activityOf(b) || byTime(a, b),
  };
  return orders[sort];
}

function secondsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

/** Refuses a request in the API's format: the status is 400, and the body has the number and the name of the error. */
function refusal(reply: FastifyReply, errorId: number, name: string, message: string): FastifyReply {
  return answer(reply, 400, { error_id: errorId, error_message: message, error_name: name });
}

function throttled(reply: FastifyReply, seconds: number): FastifyReply {
  const message = `too many requests from this IP, more requests available in ${seconds} seconds`;
  return refusal(reply, 502, 'throttle_violation', message);
}

/** Compresses a response if the client accepts gzip. The real API always compresses its responses. */
async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const isAsked = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (!isAsked || typeof payload !== 'string' || payload === '' || reply.raw.headersSent) return payload;
  void reply.header('Content-Encoding', 'gzip').removeHeader('Content-Length');
  return gzipSync(payload);
}
