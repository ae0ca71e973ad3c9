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

/** What is read without a key. */
const OPEN: ReadonlySet<string> = new Set(['/v1/openapi.json']);

/** Lets requests under `/v1` in: with a good `x-api-key`, as long as the account's minute has requests left. */
@Injectable()
export class Admission {
  constructor(
    private readonly keys: ApiKeys,
    private readonly badKeys: BadKeys,
    private readonly quota: RequestQuota,
  ) {}

  /** Stands before everything that a request costs, the reading of its body among it: a flood is cheap. */
  guard(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      if (!isGuarded(request)) return done();
      this.admit(request, reply).then((isIn) => isIn && done(), done);
    });
  }

  /** False: it has been answered. */
  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const caller = await this.callerOf(request, reply);
    const verdict = await this.quota.take(caller.accountId, limitsOf(caller.plan).requestsPerMinute);
    reply.headers(rateLimitHeaders(verdict));
    if (!verdict.admitted) {
      // Not thrown: an exception on its way through Nest costs several times as much as this answer.
      const { status, body } = refusalAnswer(tooMany(verdict));
      void reply.status(status).header('retry-after', verdict.resetSeconds).send(body);
      return false;
    }
    if (caller.scope !== 'write' && !isRead(request))
      throw new Refusal('forbidden', 'FORBIDDEN', 'this API key may only read');
    setCaller(request, caller);
    return true;
  }

  /** @throws Refusal `unauthenticated`, or `too-many` for an address that has tried too often; its connection is closed then */
  private async callerOf(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const given = request.headers['x-api-key'];
    const key = typeof given === 'string' ? given : undefined;
    const retryAfterSeconds = this.badKeys.retryAfterSeconds(request.ip);
    const isThrottled = retryAfterSeconds !== undefined && !(key && this.keys.wasGood(key));
    const caller = key && !isThrottled ? await this.keys.callerOf(key) : undefined;
    if (caller) return caller;
    // A body that may follow is not waited for.
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
    : 'the header x-api-key is missing; send the API key there, and not in authorization';
}

function tooMany({ limit, resetSeconds }: Verdict): Refusal {
  return new Refusal(
    'too-many',
    'TOO_MANY_REQUESTS',
    `the account's ${limit} requests of this minute are used up; the next begins in ${resetSeconds} s`,
  );
}

/** What changes nothing, whether it costs credits or not: to ask for a price, or for Tweets by their ids, is to read. */
function isRead({ method, routeOptions }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD' || /\/(estimate|lookup)$/.test(routeOptions.url ?? '');
}

/** A path that no route has is guarded as well; the router has decoded the path of one that has. */
function isGuarded(request: FastifyRequest): boolean {
  const path = request.routeOptions.url ?? request.url.split('?', 1)[0] ?? '';
  return (path === '/v1' || path.startsWith('/v1/')) && !OPEN.has(path);
}
