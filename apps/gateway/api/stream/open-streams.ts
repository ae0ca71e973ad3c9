import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import { LOG, type Loop } from '#platform';
import type { Logger } from '#telemetry';
import { Admission } from '../../auth/admission.js';
import { EventStream } from './event-stream.js';

/** Maximum number of streams that one gateway serves to one account at the same time. */
const MAX_PER_ACCOUNT = 50;
const RETRY_AFTER_SECONDS = 10;

/** How often the key or session of a stream is checked again. */
const CHECK_EVERY_MS = 15_000;

/**
 * Holds the streams that clients of this gateway read. Ends a stream when a check finds that its key or session
 * has ended. Ends all streams when the gateway stops.
 */
@Injectable()
export class OpenStreams implements Loop {
  readonly name = 'streams of mentions';
  private readonly open = new Map<string, Set<EventStream>>();

  constructor(
    private readonly admission: Admission,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Does nothing, because each stream begins with its request. */
  start(): void {}

  /** @throws Refusal `too-many` */
  begin(accountId: string, request: FastifyRequest, reply: FastifyReply): EventStream {
    const ofAccount = this.open.get(accountId) ?? new Set();
    if (ofAccount.size >= MAX_PER_ACCOUNT) {
      void reply.header('retry-after', RETRY_AFTER_SECONDS);
      throw new Refusal(
        'too-many',
        'TOO_MANY_REQUESTS',
        `${MAX_PER_ACCOUNT} streams of this account are already open; close one`,
      );
    }
    const stream = new EventStream(reply);
    this.open.set(accountId, ofAccount.add(stream));
    const checks = setInterval(() => void this.check(request, stream), CHECK_EVERY_MS).unref();
    stream.ended.addEventListener('abort', () => clearInterval(checks), { once: true });
    return stream;
  }

  end(accountId: string, stream: EventStream): void {
    stream.end();
    const ofAccount = this.open.get(accountId);
    ofAccount?.delete(stream);
    if (ofAccount?.size === 0) this.open.delete(accountId);
  }

  private async check(request: FastifyRequest, stream: EventStream): Promise<void> {
    // While Postgres does not answer, every stream stays open.
    const isValid = await this.admission.isStillValid(request).catch(() => true);
    if (!isValid) stream.end();
  }

  /** Reports an error that ended a stream. */
  failed(error: unknown): void {
    this.log.error({ err: error }, 'a stream of mentions ended; the client connects again');
  }

  stop(): Promise<void> {
    for (const stream of [...this.open.values()].flatMap((streams) => [...streams])) stream.end();
    return Promise.resolve();
  }
}
