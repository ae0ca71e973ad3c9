import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitsOf } from '#contracts';
import { Refusal } from '#kernel';
import { refusalAnswer } from '../http/error.filter.js';
import { rateLimitHeaders } from '../quota/rate-limit-headers.js';
import { RequestQuota, type QuotaResult } from '../quota/request-quota.js';
import { SessionCookie } from '../sessions/session-cookie.js';
import { isCsrfToken, Sessions } from '../sessions/sessions.js';
import { ApiKeys, type Caller } from './api-keys.js';
import { FailedKeyAttempts } from './failed-key-attempts.js';
import { callerOf as admittedCaller, setCaller } from './caller.js';
import { includes, requiredRightsOf, type RequiredRights } from './permissions.js';

/**
 * Routes that need neither a key nor a session. If such a route checks a password, a code or a token, the route itself
 * limits the attempts.
 */
const OPEN: ReadonlySet<string> = new Set([
  '/v1/openapi.json',
  '/v1/auth/options',
  '/v1/auth/sign-up',
  '/v1/auth/sign-in',
  '/v1/auth/password/reset',
  '/v1/auth/password/reset/confirm',
]);

/**
 * A page uses this route to find out whether a member has signed in; a 401 opens the sign-in page. If a request to this
 * route has neither a key nor a session, Earshot looks up nothing in Postgres. So the request is never blocked, and
 * does not count as a failed attempt.
 */
const SESSION_ROUTE = '/v1/auth/session';

/** If a request needs more than this time, in ms, to arrive completely, its credential and rights are checked again. */
const CHECKED_AGAIN_AFTER_MS = 1000;

const RIGHT_TOKEN = 'GET /v1/auth/session returns it as csrfToken';
const FOREIGN_PAGE = 'the request was sent by a page of another site';

/** The API key or the session token of a request; undefined if the request has neither. */
type Credential = { kind: 'key' | 'session'; text: string } | undefined;

/**
 * Admits requests under `/v1` and to `/mcp`. A request needs a valid `x-api-key` or the cookie of a session, unless its
 * route is in `OPEN`. The account must have requests left in this minute, and the key or the member must have the right
 * to make the request.
 */
@Injectable()
export class Admission {
  constructor(
    private readonly keys: ApiKeys,
    private readonly sessions: Sessions,
    private readonly cookie: SessionCookie,
    private readonly badKeys: FailedKeyAttempts,
    private readonly quota: RequestQuota,
  ) {}

  /**
   * Adds the check to each request. The check runs before the body is read and before the handler, so that a flood of
   * requests uses few resources.
   */
  guard(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      const path = pathOf(request);
      if (!isGuarded(path)) return done();
      if (OPEN.has(path)) {
        if (request.method === 'POST') this.refuseForeignPage(request);
        return done();
      }
      this.admit(request, reply).then((isAdmitted) => isAdmitted && done(), done);
    });
    fastify.addHook('preHandler', (request, reply, done) => {
      if (!admittedCaller(request) || reply.elapsedTime < CHECKED_AGAIN_AFTER_MS) return done();
      this.checkAgain(request, reply).then(() => done(), done);
    });
  }

  /**
   * Checks the credential and the rights again, after a body that arrived slowly. Otherwise a member could begin a
   * request, and send the rest of its body after the member was removed.
   * @throws Refusal as `callerOf` and `refuseUnlessAllowed` do
   */
  private async checkAgain(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await this.callerOf(this.credentialOf(request), request, reply);
    refuseUnlessAllowed(caller, requiredRightsOf(request.method, request.routeOptions.url), pathOf(request));
    setCaller(request, caller);
  }

  /** @returns false if the request has already been answered */
  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const credential = this.credentialOf(request);
    const caller = await this.callerOf(credential, request, reply);
    const result = await this.quota.take(caller.accountId, limitsOf(caller.plan).requestsPerMinute);
    reply.headers(rateLimitHeaders(result));
    if (!result.admitted) {
      // The refusal is sent directly: an exception that passes through Nest costs several times as much.
      const { status, body } = refusalAnswer(tooMany(result));
      void reply.status(status).header('retry-after', result.resetSeconds).send(body);
      return false;
    }
    if (credential?.kind === 'session') this.refuseForgery(request, credential.text);
    refuseUnlessAllowed(caller, requiredRightsOf(request.method, request.routeOptions.url), pathOf(request));
    setCaller(request, caller);
    return true;
  }

  /**
   * Returns whether the key or session of a running request is valid now: the key or session can have been revoked
   * after the request began.
   */
  async isStillValid(request: FastifyRequest): Promise<boolean> {
    const credential = this.credentialOf(request);
    if (!credential) return false;
    const known = credential.kind === 'key' ? this.keys : this.sessions;
    return (await known.callerOf(credential.text)) !== undefined;
  }

  /**
   * Returns the key or the session token of a request. If the request has both, returns the key, because a browser adds
   * cookies by itself.
   */
  private credentialOf(request: FastifyRequest): Credential {
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') return { kind: 'key', text: key };
    const token = this.cookie.read(request);
    return token ? { kind: 'session', text: token } : undefined;
  }

  /**
   * Returns the caller of a request. Closes the connection of a request that it refuses.
   * @throws Refusal `unauthenticated`; `too-many` for an address with too many failed attempts, except with a key or
   * session that was valid when this gateway last saw it
   */
  private async callerOf(
    credential: Credential,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Caller> {
    const known = credential && (credential.kind === 'key' ? this.keys : this.sessions);
    const isAttempt = credential !== undefined || pathOf(request) !== SESSION_ROUTE;
    if (isAttempt && !(known && known.wasValid(credential.text)))
      this.badKeys.refuseBlocked(request.ip, reply);
    const caller = known && (await known.callerOf(credential.text));
    if (caller) return caller;
    // The gateway does not wait for a body that can follow.
    void reply.header('connection', 'close');
    const fault = faultOf(credential, request);
    if (isAttempt) this.badKeys.note(request.ip, fault);
    throw new Refusal('unauthenticated', 'UNAUTHORIZED', fault);
  }

  /**
   * Requires that a request with a session comes from our own page. This applies to reads too: a link on a page of
   * another site sends the cookie, and lookups cost credits. A write also needs the token, which only our page knows. A
   * read does not need the token. But a read with the token of another session is refused, because the page that sends
   * this read would show data of another account. Exception: the session itself can be read with any token.
   * @throws Refusal `forbidden`; `unauthenticated` for a read, as if the request had no session
   */
  private refuseForgery(request: FastifyRequest, token: string): void {
    const given = request.headers['x-csrf-token'];
    const isOwn = typeof given === 'string' && isCsrfToken(token, given);
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (!this.cookie.isFromOwnPage(request))
        throw new Refusal('unauthenticated', 'UNAUTHORIZED', FOREIGN_PAGE);
      if (given === undefined || isOwn || pathOf(request) === SESSION_ROUTE) return;
      throw new Refusal(
        'unauthenticated',
        'UNAUTHORIZED',
        `x-csrf-token is of another session; ${RIGHT_TOKEN}`,
      );
    }
    this.refuseForeignPage(request);
    if (isOwn) return;
    throw new Refusal(
      'forbidden',
      'FORBIDDEN',
      `the header x-csrf-token is missing or wrong; ${RIGHT_TOKEN}`,
    );
  }

  /** @throws Refusal `forbidden` if the browser reports that a page of another site sent the request */
  private refuseForeignPage(request: FastifyRequest): void {
    if (this.cookie.isFromOwnPage(request)) return;
    throw new Refusal('forbidden', 'FORBIDDEN', FOREIGN_PAGE);
  }
}

/** @throws Refusal `forbidden`; `unauthenticated` for a key on a route under `/v1/auth/` */
function refuseUnlessAllowed({ role, by }: Caller, required: RequiredRights, path: string): void {
  if (required.needsSession && by.kind === 'key') {
    if (path.startsWith('/v1/auth/'))
      throw new Refusal(
        'unauthenticated',
        'UNAUTHORIZED',
        'this request needs a session; an API key is not enough',
      );
    throw new Refusal(
      'forbidden',
      'FORBIDDEN',
      'only a member who has signed in can do this; an API key cannot',
    );
  }
  if (includes(role, required.role)) return;
  const message =
    by.kind === 'member'
      ? `your role is ${role}, but this request needs the role ${required.role}`
      : role === 'viewer'
        ? 'this API key may only read'
        : `this API key belongs to an ${role}, but this request needs the role ${required.role}`;
  throw new Refusal('forbidden', 'FORBIDDEN', message);
}

function faultOf(credential: Credential, { headers }: FastifyRequest): string {
  if (credential?.kind === 'session') return 'the session has ended; sign in again';
  if (credential) return 'the API key is not valid';
  return headers.authorization === undefined
    ? 'the header x-api-key is missing'
    : 'the header x-api-key is missing; send the API key there, not in authorization';
}

function tooMany({ limit, resetSeconds }: QuotaResult): Refusal {
  return new Refusal(
    'too-many',
    'TOO_MANY_REQUESTS',
    `the account's ${limit} requests of this minute are used up; the next minute begins in ${resetSeconds} s`,
  );
}

/** Returns the template of a known route (`/v1/keywords/:id`); for an unknown route, the path of the request. */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url.split('?', 1)[0] ?? '';
}

/**
 * Returns whether `Admission` checks the requests to a path. Except for the routes in `OPEN`, these requests need a key
 * or a session, even if the path is unknown.
 */
function isGuarded(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/') || path === '/mcp';
}
