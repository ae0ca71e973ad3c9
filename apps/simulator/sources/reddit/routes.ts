import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import { escapeMarkup } from '../shared/markup.js';
import { redditQuery } from './query.js';
import { listing, thingOf, threadOf } from './things.js';
import { aboutUser, moderatedList, stateOf } from './users.js';
import type { SimulatedSource } from '../simulated-source.js';

/** Maximum number of results of a search, and of entries in a list of the newest posts or comments. */
const LISTING_LIMIT = 1000;
const TOKEN_SECONDS = 86_400;
const SERVED = { config: { source: 'reddit' as const } };
const SIGN_IN = { config: { source: 'reddit' as const, signIn: true } };

/** Reddit's OAuth API: sign-in, search, newest posts and comments, one thread, posts and comments by name, users. */
export const redditSource: SimulatedSource = {
  routes,
  refuse: (reply, status, message) => answer(reply, status, { message, error: status }),
};

function routes(app: FastifyInstance, context: SimContext): void {
  const tokens = new Tokens(context);
  const window = new RequestWindow(context.clock, context.limits.reddit, 600);
  const { world } = context;
  const guarded = (respond: Respond) => {
    return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      if (!tokens.accepts(request.headers.authorization)) {
        void reply.header('www-authenticate', 'Bearer realm="reddit", error="invalid_token"');
        return answer(reply, 401, { message: 'Unauthorized', error: 401 });
      }
      const within = window.take();
      void reply.header('x-ratelimit-used', window.used);
      void reply.header('x-ratelimit-remaining', window.remaining.toFixed(1));
      void reply.header(
        'x-ratelimit-reset',
        Math.ceil((window.resetsAt - context.clock.now().getTime()) / 1000),
      );
      if (!within) return answer(reply, 429, { message: 'Too Many Requests', error: 429 });
      return respond(request, reply);
    };
  };

  app.post('/api/v1/access_token', SIGN_IN, (request, reply) => tokens.grant(request, reply));
  app.get(
    '/search',
    SERVED,
    guarded((request, reply) => search(world.posts('reddit'), 'all', request, reply)),
  );
  app.get(
    '/r/:subs/search',
    SERVED,
    guarded((request, reply) => {
      const restricted = ['1', 'true', 'on'].includes(
        queryOf(request).one('restrict_sr')?.toLowerCase() ?? '',
      );
      return search(world.posts('reddit'), restricted ? subsOf(request) : 'all', request, reply);
    }),
  );
  app.get(
    '/r/:subs/new',
    SERVED,
    guarded((request, reply) => {
      return page(newest(world.posts('reddit'), subsOf(request), 'post'), request, reply);
    }),
  );
  app.get(
    '/r/:subs/comments',
    SERVED,
    guarded((request, reply) => {
      return page(newest(world.posts('reddit'), subsOf(request), 'comment'), request, reply);
    }),
  );
  app.get(
    '/comments/:id',
    SERVED,
    guarded((request, reply) => {
      const post = world.find('reddit', `t3_${(request.params as { id: string }).id}`);
      if (!post) return answer(reply, 404, { message: 'Not Found', error: 404 });
      const comments = post.replies.map((comment) => threadOf(comment));
      return send([listing([thingOf(post)], null), listing(comments, null)], request, reply);
    }),
  );
  app.get(
    '/api/info',
    SERVED,
    guarded((request, reply) => {
      const names = queryOf(request)
        .all('id')
        .flatMap((ids) => ids.split(','));
      const found = names.flatMap((name) => world.find('reddit', name) ?? []);
      return send(listing(found.map(thingOf), null), request, reply);
    }),
  );
  userRoutes(app, context, guarded);
}

type Respond = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

function userRoutes(
  app: FastifyInstance,
  { world }: SimContext,
  guarded: (respond: Respond) => Respond,
): void {
  const nameIn = (request: FastifyRequest) => (request.params as { name: string }).name;
  app.get(
    '/user/:name/about',
    SERVED,
    guarded((request, reply) => {
      const name = nameIn(request);
      return stateOf(name) === 'missing'
        ? answer(reply, 404, { message: 'Not Found', error: 404 })
        : send(aboutUser(name, world.posts('reddit')), request, reply);
    }),
  );
  app.get(
    '/user/:name/moderated_subreddits',
    SERVED,
    guarded((request, reply) => {
      const name = nameIn(request);
      switch (stateOf(name)) {
        case 'missing':
          return answer(reply, 404, { message: 'Not Found', error: 404 });
        case 'suspended':
          return answer(reply, 403, { message: 'Forbidden', error: 403 });
        case 'open':
          return send(moderatedList(name), request, reply);
      }
    }),
  );
}

/** Access tokens that expire by the clock. Every client with an id and a secret is accepted. */
class Tokens {
  private readonly expiries = new Map<string, number>();

  constructor(private readonly context: SimContext) {}

  grant(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':');
    if (id === '' || secret === '') return answer(reply, 401, { message: 'Unauthorized', error: 401 });
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
    if (form.get('grant_type') !== 'client_credentials')
      return answer(reply, 200, { error: 'unsupported_grant_type' });
    const now = this.context.clock.now().getTime();
    const token = charactersFrom(
      `${id} ${now} ${this.expiries.size}`,
      'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_',
      60,
    );
    this.expiries.set(token, now + TOKEN_SECONDS * 1000);
    return answer(reply, 200, {
      access_token: token,
      token_type: 'bearer',
      expires_in: TOKEN_SECONDS,
      scope: '*',
    });
  }

  accepts(authorization: string | undefined): boolean {
    const token = /^bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return (this.expiries.get(token) ?? 0) > this.context.clock.now().getTime();
  }
}

type Subs = 'all' | ReadonlySet<string>;

function subsOf(request: FastifyRequest): Subs {
  const { subs } = request.params as { subs: string };
  const names = subs.toLowerCase().split('+');
  return names.includes('all') || names.includes('popular') ? 'all' : new Set(names);
}

/** Returns the posts or comments of these subreddits, the newest first. */
function newest(posts: readonly SimPost[], subs: Subs, kind: 'post' | 'comment'): SimPost[] {
  const found: SimPost[] = [];
  for (let i = posts.length - 1; i >= 0 && found.length < LISTING_LIMIT; i--) {
    const post = posts[i]!;
    if (post.kind === kind && (subs === 'all' || subs.has(post.community.toLowerCase()))) found.push(post);
  }
  return found;
}

/** Answers a search, which finds only posts, never comments. */
function search(
  posts: readonly SimPost[],
  subs: Subs,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { one } = queryOf(request);
  const matches = redditQuery((one('q') ?? '').slice(0, 512));
  const found: SimPost[] = [];
  for (let i = posts.length - 1; i >= 0 && found.length < LISTING_LIMIT; i--) {
    const post = posts[i]!;
    const inside = subs === 'all' || subs.has(post.community.toLowerCase());
    if (post.kind === 'post' && inside && matches(post)) found.push(post);
  }
  const sort = one('sort') ?? 'relevance';
  if (sort !== 'new') found.sort((a, b) => b.score - a.score);
  return page(found, request, reply);
}

/**
 * Answers with one page by `limit`, `after`, `before` and `count`; `before` is only returned for requests with `count`.
 */
function page(found: readonly SimPost[], request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { one } = queryOf(request);
  const limit = Math.min(100, Math.max(1, Number(one('limit') ?? 25) || 25));
  const after = one('after');
  const before = one('before');
  let from = after ? found.findIndex(({ id }) => id === after) + 1 : 0;
  if (before) from = Math.max(0, found.findIndex(({ id }) => id === before) - limit);
  const end = before
    ? Math.max(
        0,
        found.findIndex(({ id }) => id === before),
      )
    : from + limit;
  const shown = found.slice(from, Math.min(end, from + limit));
  const next = from + shown.length < found.length ? (shown.at(-1)?.id ?? null) : null;
  const previous = one('count') !== undefined && from > 0 ? (shown[0]?.id ?? null) : null;
  return send(listing(shown.map(thingOf), next, previous), request, reply);
}

/** Sends JSON. Without `raw_json=1`, every string has `&`, `<` and `>` as entities. */
function send(body: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isRaw = queryOf(request).one('raw_json') === '1';
  const text = JSON.stringify(
    body,
    isRaw ? undefined : (_, value: unknown) => (typeof value === 'string' ? escapeMarkup(value) : value),
  );
  return reply.type('application/json; charset=UTF-8').send(text);
}
