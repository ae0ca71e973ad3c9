import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { charactersFrom } from '../../world/random.js';
import type { World } from '../../world/world.js';
import type { SimPost } from '../../world/post.js';
import { GraphqlFault, readSelections, selected, unknownField } from '../shared/graphql.js';
import type { Selection } from '../shared/graphql.js';
import { connection, isFeatured, madeAt, postNode, slugOf, topicSlugsOf } from './posts.js';
import type { SimulatedSource } from '../simulated-source.js';

const WINDOW_SECONDS = 900;
/** Maximum number of posts on a page. A request for more posts gets this number. */
const MAX_POSTS = 20;
const ORDERS = ['NEWEST', 'VOTES', 'RANKING', 'FEATURED_AT'];
const SERVED = { config: { source: 'producthunt' as const } };
// TikTok's sign-in has the same path, but receives a form.
const SIGN_IN = {
  config: { source: 'producthunt' as const, signIn: true },
  constraints: { contentType: 'application/json' },
};

const INVALID_TOKEN = {
  error: 'invalid_oauth_token',
  error_description:
    'Please supply a valid access token. Refer to our api documentation about how to authorize an api request. Please also make sure you require the correct scopes. Eg "private public" for to access private endpoints.',
};
const INVALID_GRANT = {
  error: 'invalid_grant',
  error_description:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
};

/** Product Hunt's GraphQL API: the fields `posts` and `post`, the sign-in, and the limit of points in 15 minutes. */
export const producthuntSource: SimulatedSource = {
  routes,
  itemIdOf: ({ id }) => `producthunt:${id}`,
  refuse(reply, status, message) {
    switch (status) {
      case 401:
        return answer(reply, 401, { data: null, errors: [INVALID_TOKEN] });
      case 429: {
        const seconds = Number(reply.getHeader('retry-after') ?? WINDOW_SECONDS);
        return answer(reply, 429, { data: null, errors: [limitReached(6250, 0, seconds)] });
      }
      default: {
        // The server in front of the API sends all other refusals.
        const page = `<!DOCTYPE html><html><head><title>${status} ${message}</title></head><body><h1>${message}</h1></body></html>`;
        return reply.code(status).type('text/html; charset=UTF-8').send(page);
      }
    }
  },
};

function routes(app: FastifyInstance, context: SimContext): void {
  const points = new RequestWindow(context.clock, context.limits.producthunt, WINDOW_SECONDS);
  app.post('/v2/oauth/token', SIGN_IN, (request, reply) => signIn(context, request, reply));
  app.post('/v2/api/graphql', SERVED, (request, reply) => {
    const token = /^bearer (.*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (token === '' || token === 'wrong') return answer(reply, 401, { data: null, errors: [INVALID_TOKEN] });
    const { query, variables } = (request.body ?? {}) as { query?: unknown; variables?: object | null };
    const asked = typeof query === 'string' ? query : '';
    let cost = 1;
    let body: object;
    try {
      if (asked === '') throw new GraphqlFault('No query string was present');
      const fields = readSelections(asked, { ...variables });
      cost += fields.reduce((sum, { args }) => sum + firstOf(args), 0);
      body = {
        data: Object.fromEntries(fields.map((field) => [field.key, rootField(field, context.world)])),
      };
    } catch (error) {
      if (!(error instanceof GraphqlFault)) throw error;
      body = { errors: [error.entry] };
    }
    const within = points.take(cost);
    const seconds = Math.ceil((points.resetsAt - context.clock.now().getTime()) / 1000);
    void reply
      .header('X-Rate-Limit-Limit', points.limit)
      .header('X-Rate-Limit-Remaining', points.remaining)
      .header('X-Rate-Limit-Reset', seconds);
    if (within) return answer(reply, 200, body);
    const error = limitReached(points.limit, points.limit - points.used, seconds);
    return answer(reply, 429, { data: null, errors: [error] });
  });
}

function limitReached(limit: number, remaining: number, resetIn: number): object {
  return {
    error: 'rate_limit_reached',
    error_description: 'Sorry. You have exceeded the API rate limit, please try again later.',
    details: { limit, remaining, reset_in: resetIn },
  };
}

/** Answers a sign-in. The answer does not contain the token's expiry. */
function signIn({ clock }: SimContext, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const {
    client_id: id,
    client_secret: secret,
    grant_type: grant,
  } = (request.body ?? {}) as Record<string, unknown>;
  if (grant !== 'client_credentials') return answer(reply, 400, INVALID_GRANT);
  if (
    typeof id !== 'string' ||
    id === '' ||
    typeof secret !== 'string' ||
    secret === '' ||
    secret === 'wrong'
  ) {
    return answer(reply, 401, {
      error: 'invalid_client',
      error_description:
        'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
    });
  }
  const now = clock.now().getTime();
  return answer(reply, 200, {
    access_token: charactersFrom(
      `${id} ${now}`,
      'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_',
      43,
    ),
    token_type: 'Bearer',
    scope: 'public',
    created_at: Math.floor(now / 1000),
  });
}

function rootField({ name, args, fields }: Selection, world: World): unknown {
  const posts = world.posts('producthunt');
  switch (name) {
    case 'posts':
      return selected(fields, postsOf(posts, args));
    case 'post': {
      const found = posts.find((post) => post.id === args.id || slugOf(post) === args.slug);
      return found ? selected(fields, postNode(found)) : null;
    }
    default:
      throw unknownField(name, 'Query');
  }
}

function postsOf(posts: readonly SimPost[], args: Selection['args']) {
  const order = args.order ?? 'RANKING';
  if (typeof order !== 'string' || !ORDERS.includes(order)) {
    throw new GraphqlFault(
      `Argument 'order' on Field 'posts' has an invalid value (${String(order)}). Expected type 'PostsOrder'.`,
    );
  }
  const [after, before] = [timeOf(args.postedAfter), timeOf(args.postedBefore)];
  const found = posts.filter((post) => {
    // Both bounds apply to the creation time in every order.
    if (after !== undefined && madeAt(post) <= after) return false;
    if (before !== undefined && madeAt(post) >= before) return false;
    if (typeof args.featured === 'boolean' && isFeatured(post) !== args.featured) return false;
    return typeof args.topic !== 'string' || topicSlugsOf(post).includes(args.topic);
  });
  found.reverse();
  if (order === 'VOTES' || order === 'RANKING') found.sort((a, b) => b.score - a.score);
  if (order === 'FEATURED_AT') found.sort((a, b) => Number(isFeatured(b)) - Number(isFeatured(a)));
  const from = typeof args.after === 'string' ? Number(Buffer.from(args.after, 'base64').toString()) : 0;
  if (!Number.isInteger(from)) throw new GraphqlFault(`Invalid cursor: ${JSON.stringify(args.after)}`);
  const end = from + firstOf(args);
  return connection('Post', found.slice(from, end).map(postNode), {
    from,
    hasNext: end < found.length,
    totalCount: found.length,
  });
}

function firstOf({ first }: Selection['args']): number {
  return typeof first === 'number' && first >= 0 ? Math.min(first, MAX_POSTS) : MAX_POSTS;
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
