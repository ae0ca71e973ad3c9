import { createHash } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { canonicalize } from 'json-canonicalize';
import { newId, Refusal, systemClock, type Clock } from '#kernel';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { SecretBox } from '#secrets';
import type { Logger } from '#telemetry';
import type { Caller } from '../auth/api-keys.js';
import { callerOf } from '../auth/caller.js';
import { commandIdOf, setCommandId } from '../http/command-id.js';
import { hiddenFailureOf } from '../http/hidden-failure.js';
import { refuseUnstorableValues } from '../http/unstorable-values.js';
import { IdempotencyRecords, type KeyedRequest } from './idempotency-records.js';

/** Injection token of the clock for the expiry of records. Tests use their own clock. */
export const IDEMPOTENCY_CLOCK = Symbol('idempotency clock');

const RENEW_MS = 5000;
/**
 * Longer than a request is expected to take. After this time, the gateway does not renew the record of a hanging
 * request any more, so that the request can be repeated.
 */
const MAX_PROCESSING_MS = 120_000;
/** Responses with these statuses are not stored: the request had no effect, and can get another status later. */
const FORGOTTEN: ReadonlySet<number> = new Set([401, 402, 409, 429]);

/**
 * Routes whose answers contain a secret that is shown once, or that Earshot stores only encrypted. Such an answer is
 * stored encrypted, and only the same caller can get it again.
 */
const SECRET_ANSWERS: ReadonlySet<string> = new Set([
  '/v1/keys',
  '/v1/invitations',
  '/v1/signing-secret/rotate',
  '/v1/keywords/:id/feed/rotate',
  '/v1/queries/:id/feed/rotate',
]);

interface Running {
  request: KeyedRequest;
  repeats: boolean;
  renewal: NodeJS.Timeout;
}

/**
 * Makes a POST with an `Idempotency-Key` safe to repeat: the first request runs, and its repetitions get the same
 * response, or a 409 while the first request is running. A response whose status is in `FORGOTTEN` is not stored, also if
 * the status is that of an MCP tool. After a crash or a 5xx, a repeated request runs again as the same command
 * (`@CommandId()`), so it has no second effect. Routes under `/v1/auth/` ignore the header.
 */
@Injectable()
export class Idempotency {
  private readonly records: IdempotencyRecords;
  private readonly running = new WeakMap<FastifyRequest, Running>();

  constructor(
    @Inject(DATABASE) database: Database,
    @Inject(LOG) private readonly log: Logger,
    private readonly box: SecretBox,
    @Optional() @Inject(IDEMPOTENCY_CLOCK) private readonly clock: Clock = systemClock,
  ) {
    this.records = new IdempotencyRecords(database);
  }

  /** Adds two hooks: one between the reading of the body and the route, the other before a response is sent. */
  guard(fastify: FastifyInstance): void {
    fastify.addHook('preHandler', async (request, reply) => {
      const key = request.headers['idempotency-key'];
      const caller = callerOf(request);
      if (typeof key !== 'string' || request.method !== 'POST' || !caller || request.is404) return;
      // These bodies contain passwords, which could be guessed from the stored hash of a body.
      if (request.url.startsWith('/v1/auth/')) return;
      await this.begin(request, reply, caller, key);
    });
    fastify.addHook('onSend', async (request, reply, payload) => {
      await this.end(request, reply.statusCode, payload);
      return payload;
    });
  }

  /** Deletes expired records. */
  deleteOld(): Promise<void> {
    return this.records.deleteOld(this.now());
  }

  private async begin(request: FastifyRequest, reply: FastifyReply, { accountId, by }: Caller, key: string) {
    if (key.length < 1 || key.length > 255)
      throw Refusal.validation([{ path: 'Idempotency-Key', message: 'must have 1 to 255 characters' }]);
    refuseUnstorableValues(request.body);
    const keyed = { accountId, key, hash: hashOf(request, isSecret(request) ? by.id : ''), runner: newId() };
    const claim = await this.records.claim(keyed, commandIdOf(request), this.now());
    switch (claim.kind) {
      case 'run':
        setCommandId(request, claim.commandId);
        this.running.set(request, {
          request: keyed,
          repeats: claim.repeats,
          renewal: this.startRenewal(keyed),
        });
        return;
      case 'replay':
        reply.header('idempotency-replayed', 'true').status(claim.outcome.status);
        if (claim.outcome.body === '') return reply.send();
        return reply
          .type('application/json; charset=utf-8')
          .send(isSecret(request) ? this.decrypted(claim.outcome.body) : claim.outcome.body);
      case 'in-progress':
        reply.header('retry-after', '1');
        throw Refusal.conflict(
          'the first request with this Idempotency-Key is still running',
          'IDEMPOTENCY_IN_PROGRESS',
        );
      case 'reused':
        throw new Refusal(
          'unprocessable',
          'IDEMPOTENCY_KEY_REUSED',
          'this Idempotency-Key was used with another request; use a new key for a new request',
        );
    }
  }

  /**
   * Ends the record of a request. If this fails, the response does not change: the record stays without an outcome, and
   * a repeated request runs again as the same command.
   */
  private async end(request: FastifyRequest, shown: number, payload: unknown): Promise<void> {
    const status = hiddenFailureOf(request) ?? shown;
    const running = this.running.get(request);
    if (!running) return;
    this.running.delete(request);
    clearInterval(running.renewal);
    try {
      // An earlier attempt can have had its effect. If the record were deleted, the next attempt would repeat the
      // effect.
      if (status >= 500 || (running.repeats && FORGOTTEN.has(status)))
        await this.records.leave(running.request);
      else if (FORGOTTEN.has(status)) await this.records.forget(running.request);
      else await this.records.keep(running.request, { status: shown, body: this.bodyOf(request, payload) });
    } catch (error) {
      this.log.error({ err: error }, 'the outcome of a request with an Idempotency-Key could not be stored');
    }
  }

  private bodyOf(request: FastifyRequest, payload: unknown): string {
    const text = textOf(payload);
    return isSecret(request) && text !== '' ? this.box.seal(text).toString('base64') : text;
  }

  /** @throws Refusal `conflict` if MASTER_KEY no longer contains the key that encrypted the answer */
  private decrypted(body: string): string {
    try {
      return this.box.open(Buffer.from(body, 'base64'));
    } catch {
      throw Refusal.conflict('the stored answer cannot be read any more; use a new Idempotency-Key');
    }
  }

  private startRenewal(request: KeyedRequest): NodeJS.Timeout {
    const end = Date.now() + MAX_PROCESSING_MS;
    const renewal = setInterval(() => {
      if (Date.now() > end) return clearInterval(renewal);
      this.records
        .renew(request, this.now())
        .catch((error: unknown) =>
          this.log.warn({ err: error }, 'the record of a running request could not be renewed'),
        );
    }, RENEW_MS).unref();
    return renewal;
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function isSecret({ routeOptions }: FastifyRequest): boolean {
  return SECRET_ANSWERS.has(routeOptions.url ?? '');
}

/** @param callerId the id of the caller if only this caller is allowed to get the answer; otherwise empty */
function hashOf({ method, url, body }: FastifyRequest, callerId: string): Buffer {
  return createHash('sha256')
    .update(`${callerId}${method} ${url}\0`)
    .update(body === undefined ? '' : canonicalize(body))
    .digest();
}

function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload.toString();
  throw new Error('the response to a POST is a stream and cannot be stored');
}
