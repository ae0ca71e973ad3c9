import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answer, queryOf, RequestWindow } from '../../context.js';
import type { SimContext } from '../../context.js';
import { didOf } from '../../world/traits.js';
import { hasPhrase, readQuery, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';
import { indexedAt, linksOf, postView, tagsOf } from './posts.js';
import type { SimulatedSource } from '../simulated-source.js';

const ACCESS_SECONDS = 7_200;
const REFRESH_SECONDS = 60 * 86_400;
const MAX_REPORTED_HITS = 10_000;
const ERROR_NAMES: Record<number, string> = {
  401: 'AuthenticationRequired',
  404: 'XRPCNotSupported',
  429: 'RateLimitExceeded',
};
const SERVED = { config: { source: 'bluesky' as const } };
const SIGN_IN = { config: { source: 'bluesky' as const, signIn: true } };

/** A server of Bluesky (PDS) for signed-in clients: sessions and `app.bsky.feed.searchPosts`. */
export const blueskySource: SimulatedSource = {
  routes,
  refuse(reply, status, message) {
    // Bluesky's own refusals are JSON; a 403 comes from the firewall in front of Bluesky.
    if (status !== 403)
      return answer(reply, status, { error: ERROR_NAMES[status] ?? 'InternalServerError', message });
    return reply
      .code(403)
      .type('text/html')
      .send('<html><body><h1>403 Forbidden</h1>Request forbidden by administrative rules.</body></html>');
  },
};

function routes(app: FastifyInstance, context: SimContext): void {
  const sessions = new Sessions(context);
  const window = new RequestWindow(context.clock, context.limits.bluesky, 300);

  app.post('/xrpc/com.atproto.server.createSession', SIGN_IN, (request, reply) => {
    const { identifier, password } = (request.body ?? {}) as { identifier?: unknown; password?: unknown };
    if (typeof identifier !== 'string' || typeof password !== 'string') {
      return answer(reply, 400, {
        error: 'InvalidRequest',
        message: 'Input must have the property "identifier"',
      });
    }
    if (password === '' || password === 'wrong') {
      return answer(reply, 401, {
        error: 'AuthenticationRequired',
        message: 'Invalid identifier or password',
      });
    }
    return answer(reply, 200, sessions.open(identifier));
  });
  app.post('/xrpc/com.atproto.server.refreshSession', SIGN_IN, (request, reply) => {
    const session = sessions.check(request.headers.authorization, 'com.atproto.refresh');
    return 'error' in session
      ? answer(reply, session.status, session.error)
      : answer(reply, 200, sessions.open(session.handle));
  });
  app.get('/xrpc/app.bsky.feed.searchPosts', SERVED, (request, reply) => {
    const within = window.take();
    void reply.header('RateLimit-Limit', window.limit);
    void reply.header('RateLimit-Remaining', window.remaining);
    void reply.header('RateLimit-Reset', Math.ceil(window.resetsAt / 1000));
    void reply.header('RateLimit-Policy', `${window.limit};w=${window.seconds}`);
    if (!within) return answer(reply, 429, { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' });
    const session = sessions.check(request.headers.authorization, 'com.atproto.access');
    if ('error' in session) return answer(reply, session.status, session.error);
    return searchPosts(context.world.posts('bluesky'), request, reply);
  });
}

function searchPosts(posts: readonly SimPost[], request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { one, all } = queryOf(request);
  const invalid = (message: string) =>
    answer(reply, 400, { error: 'InvalidRequest', message: `Error: ${message}` });
  const q = one('q');
  if (q === undefined) return invalid('Params must have the property "q"');
  const limit = Number(one('limit') ?? 25);
  if (!Number.isInteger(limit)) return invalid('limit must be an integer');
  if (limit > 100) return invalid('limit can not be greater than 100');
  if (limit < 1) return invalid('limit can not be less than 1');
  const [since, until] = [one('since'), one('until')].map((text) => (text ? Date.parse(text) : undefined));
  if (Number.isNaN(since) || Number.isNaN(until)) return invalid('since and until must be datetimes');
  const offset = Number(one('cursor') ?? 0);
  if (!Number.isInteger(offset) || offset < 0) return invalid('malformed cursor');

  const matches = queryTest(q);
  const tags = all('tag').map((tag) => tag.toLowerCase());
  const [author, lang, domain, url] = [one('author'), one('lang'), one('domain'), one('url')];
  const found = posts.filter((post) => {
    const at = sortedAt(post);
    if ((since !== undefined && at < since) || (until !== undefined && at >= until)) return false;
    if (author && post.author !== author && didOf(post.author) !== author) return false;
    if (lang && post.lang !== lang) return false;
    if (domain && !linksOf(post).some((link) => new URL(link).hostname === domain)) return false;
    if (url && !linksOf(post).includes(url)) return false;
    if (tags.length > 0 && !tags.every((tag) => tagsOf(post).some((own) => own.toLowerCase() === tag)))
      return false;
    return matches(post);
  });
  found.sort(one('sort') === 'top' ? (a, b) => b.score - a.score : (a, b) => sortedAt(b) - sortedAt(a));
  const shown = found.slice(offset, offset + limit);
  const next = offset + limit < found.length ? { cursor: String(offset + limit) } : {};
  return answer(reply, 200, {
    posts: shown.map(postView),
    ...next,
    hitsTotal: Math.min(found.length, MAX_REPORTED_HITS),
  });
}

/** Returns `sortAt`: the author's time or the network's time, whichever is earlier. */
function sortedAt(post: SimPost): number {
  return Math.min(post.publishedAt, indexedAt(post));
}

/**
 * Returns a function that tests whether a query finds a post. All words and phrases must match; `OR` is an ordinary
 * word. `from:` accepts a handle with or without `@`. `#tag` matches the word without `#`.
 */
function queryTest(q: string): (post: SimPost) => boolean {
  const from = /(?:^|\s)from:@?(\S+)/.exec(q)?.[1];
  const clauses = readQuery(q.replace(/(^|\s)from:\S+/g, ' '));
  return (post) => {
    if (from && post.author !== from) return false;
    const words = wordsOfPost(post).text;
    return clauses.every((clause) => hasPhrase(words, clause.words) !== clause.excluded);
  };
}

type Scope = 'com.atproto.access' | 'com.atproto.refresh';
type Checked = { handle: string } | { status: number; error: { error: string; message: string } };

/**
 * Sessions with tokens that contain their account and expiry, like JWTs (unsigned: the simulator checks no signature).
 */
class Sessions {
  private opened = 0;

  constructor(private readonly context: SimContext) {}

  open(handle: string): object {
    return {
      did: didOf(handle),
      handle,
      email: 'someone@example.com',
      emailConfirmed: true,
      active: true,
      accessJwt: this.token(handle, 'com.atproto.access', ACCESS_SECONDS),
      refreshJwt: this.token(handle, 'com.atproto.refresh', REFRESH_SECONDS),
    };
  }

  check(authorization: string | undefined, scope: Scope): Checked {
    const token = /^bearer (.+)$/i.exec(authorization ?? '')?.[1];
    if (!token) return { status: 401, error: { error: 'AuthMissing', message: 'Authentication Required' } };
    const claims = claimsOf(token);
    if (claims?.scope !== scope)
      return { status: 400, error: { error: 'InvalidToken', message: 'Token could not be verified' } };
    const now = this.context.clock.now().getTime() / 1000;
    if (claims.exp <= now)
      return { status: 400, error: { error: 'ExpiredToken', message: 'Token has expired' } };
    return { handle: claims.sub };
  }

  private token(handle: string, scope: Scope, seconds: number): string {
    const iat = Math.floor(this.context.clock.now().getTime() / 1000);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { scope, sub: handle, iat, exp: iat + seconds, jti: (this.opened += 1) };
    return `${part({ typ: 'at+jwt', alg: 'none' })}.${part(claims)}.c2ltdWxhdGVk`;
  }
}

function claimsOf(token: string): { scope: string; sub: string; exp: number } | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      scope: string;
      sub: string;
      exp: number;
    };
  } catch {
    return undefined;
  }
}
