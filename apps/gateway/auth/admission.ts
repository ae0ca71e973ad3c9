import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { limitsOf } from '#contracts';
import { Refusal } from '#kernel';
import { refusalAnswer } from '../http/error.filter.js';
import { rateLimitHeaders } from '../quota/rate-limit-headers.js';
import { RequestQuota, type Verdict } from '../quota/request-quota.js';
import { ApiKeys, type Caller } from './api-keys.js';
import { BadKeys } from './bad-keys.js';
import { setCaller } from './caller.js';

/** Routes that need no key. */
const OPEN: ReadonlySet<string> = new Set(['/v1/openapi.json']);

/** Admits requests under `/v1` that have a valid `x-api-key`, while the account has requests left in this minute. */
@Injectable()
export class Admission {
  constructor(
    private readonly keys: ApiKeys,
    private readonly badKeys: BadKeys,
    private readonly quota: RequestQuota,
  ) {}

  /** Runs before every costly part of a request, also before its body is read, so that a flood is cheap. */
  guard(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      if (!isGuarded(request)) return done();
      this.admit(request, reply).then((isIn) => isIn && done(), done);
    });
  }

  /** @returns false if the request has already been answered */
  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const caller = await this.callerOf(request, reply);
    const verdict = await this.quota.take(caller.accountId, limitsOf(caller.plan).requestsPerMinute);
    reply.headers(rateLimitHeaders(verdict));
    if (!verdict.admitted) {
      // The refusal is sent directly: an exception that passes through Nest costs several times as much.
      const { status, body } = refusalAnswer(tooMany(verdict));
      void reply.status(status).header('retry-after', verdict.resetSeconds).send(body);
      return false;
    }
    if (caller.scope !== 'write' && !isRead(request))
      throw new Refusal('forbidden', 'FORBIDDEN', 'this API key may only read');
    setCaller(request, caller);
    return true;
  }

  /**
   * @throws Refusal `unauthenticated`, or `too-many` for an address with too many failed attempts, whose connection is
   * then closed
   */
  private async callerOf(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const given = request.headers['x-api-key'];
    const key = typeof given === 'string' ? given : undefined;
    const retryAfterSeconds = this.badKeys.retryAfterSeconds(request.ip);
    const isThrottled = retryAfterSeconds !== undefined && !(key && this.keys.wasGood(key));
    const caller = key && !isThrottled ? await this.keys.callerOf(key) : undefined;
    if (caller) return caller;
    // The gateway does not wait for a body that may follow.
    void reply.header('connection', 'close');
    if (isThrottled) {
      void reply.header('retry-after', retryAfterSeconds);
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        `too many requests without a good API key; try again in ${retryAfterSeconds} s`,
      );
    }
    const fault = faultOf(request);
    this.badKeys.note(request.ip, fault);
    throw new Refusal('unauthenticated', 'UNAUTHORIZED', fault);
  }
}

function faultOf({ headers }: FastifyRequest): string {
  if (headers['x-api-key'] !== undefined) return 'the API key is not valid';
  return headers.authorization === undefined
    ? 'the header x-api-key is missing'
    : 'the header x-api-key is missing; send the API key there, not in authorization';
}

function tooMany({ limit, resetSeconds }: Verdict): Refusal {
  return new Refusal(
    'too-many',
    'TOO_MANY_REQUESTS',
    `the account's ${limit} requests of this minute are used up; the next minute begins in ${resetSeconds} s`,
  );
}

/**
 * Requests that change nothing are reads, whether or not they cost credits: also estimates, and lookups of tweets by
 * id.
 */
function isRead({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || /\/(estimate|lookup)$/.test(routeOptions.url ?? '');
}

/** Unknown paths are guarded as well. The path of a known route is already decoded by the router. */
function isGuarded(request: FastifyRequest): boolean {
  const path = request.routeOptions.url ?? request.url.split('?', 1)[0] ?? '';
  return (path === '/v1' || path.startsWith('/v1/')) && !OPEN.has(path);
}
