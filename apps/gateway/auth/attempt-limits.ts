import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { newId, Refusal } from '#kernel';
import { DATABASE, LOG } from '#platform';
import { deleteInParts, type Database, type Tx } from '#postgres';
import type { Logger } from '#telemetry';
import { networkOf } from './failed-key-attempts.js';

/** What is attempted: a password, a code or a token, or the request for a mail to an address. */
export type AttemptKind = 'sign-in' | 'sign-up' | 'reset' | 'mail';

/**
 * Maximum number of failed attempts for an address and for a network within `WINDOW_MINUTES`. All requests for mails
 * count, not only failed requests.
 */
const LIMITS: Readonly<Record<AttemptKind, { address: number; network: number }>> = {
  'sign-in': { address: 10, network: 60 },
  'sign-up': { address: 10, network: 60 },
  reset: { address: 10, network: 60 },
  mail: { address: 3, network: 60 },
};
const WINDOW_MINUTES = 15;
/**
 * A gateway remembers for this time, in ms, that no attempt is left. The time is short, because a successful attempt is
 * deleted from the count: another attempt can be allowed again at any moment.
 */
const FULL_MS = 2000;
const CONNECTIONS = 2;
const MAX_WAITING = 500;

/** An attempt that has begun. The attempt counts as failed until it succeeds. */
export interface Attempt {
  succeeded(): Promise<void>;
}

interface Limit {
  subject: Buffer;
  max: number;
}

interface Count {
  subject: Buffer;
  count: number;
  seconds: number;
}

/**
 * Limits attempts with a password, a code or a token, and requests for mails. One limit is for each email address, or
 * for each token of a reset. Another limit is for each network. Both are for all gateways together. The limits do not
 * depend on whether the address is known. An attempt counts from its beginning, so that concurrent attempts cannot
 * exceed the limits.
 */
@Injectable()
export class AttemptLimits {
  /** Seconds to wait, by subject. */
  private readonly full = new LRUCache<string, number>({ max: 10_000, ttl: FULL_MS });
  private readonly queue = new PQueue({ concurrency: CONNECTIONS });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Counts an attempt.
   * @throws Refusal `too-many` if no attempt is left (the reply then has `Retry-After`), or `unavailable` if too many
   * attempts wait
   */
  async begin(
    kind: AttemptKind,
    address: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Attempt> {
    const { address: ofAddress, network: ofNetwork } = LIMITS[kind];
    const network = networkOf(request.ip);
    const limits = [
      { subject: subjectOf(kind, 'address', address.toLowerCase()), max: ofAddress },
      { subject: subjectOf(kind, 'network', network), max: ofNetwork },
    ];
    const id = newId();
    const seconds = await this.secondsToWait(id, limits);
    if (seconds === undefined)
      return {
        succeeded: async () => {
          await this.database.query('DELETE FROM auth_attempts WHERE attempt_id = $1', [id]);
        },
      };
    this.log.warn(
      { kind, network, seconds },
      'too many attempts; the next one is allowed after these seconds',
    );
    void reply.header('retry-after', seconds);
    throw new Refusal('too-many', 'TOO_MANY_REQUESTS', `too many attempts; try again in ${seconds} s`);
  }

  /**
   * Returns the seconds until the next allowed attempt; undefined if this attempt was counted. The gateway remembers a
   * refusal for two seconds, and does not ask Postgres in this time. The attempts that are counted at the same time use
   * at most two connections to Postgres. An attempt that has waited for a connection checks the memory again first: if
   * an earlier attempt was refused meanwhile, no statement is needed.
   */
  private async secondsToWait(id: string, limits: readonly Limit[]): Promise<number | undefined> {
    const names = limits.map(({ subject }) => subject.toString('base64'));
    const known = this.knownSeconds(names);
    if (known !== undefined) return known;
    if (this.queue.size >= MAX_WAITING)
      throw Refusal.unavailable('too many attempts at the same time; try again in a few seconds');
    const seconds = await this.queue.add(() => this.knownSeconds(names) ?? this.takenSeconds(id, limits));
    return seconds || undefined;
  }

  private knownSeconds(names: readonly string[]): number | undefined {
    const known = Math.max(0, ...names.map((name) => this.full.get(name) ?? 0));
    return known > 0 ? known : undefined;
  }

  private async takenSeconds(id: string, limits: readonly Limit[]): Promise<number | undefined> {
    const taken = await this.database.transaction((tx) => take(tx, id, limits));
    for (const name of taken?.full ?? []) this.full.set(name, taken?.seconds ?? 1);
    return taken?.seconds;
  }

  /** Deletes attempts that are older than the window. */
  async deleteOld(): Promise<void> {
    await deleteInParts(
      this.database,
      'auth_attempts',
      `s.at < now() - interval '${WINDOW_MINUTES} minutes'`,
    );
  }
}

/**
 * Counts the attempt if all limits allow it.
 * @returns undefined if the attempt was counted; otherwise the seconds to wait, and the subjects that have no attempt
 * left
 */
async function take(
  tx: Tx,
  id: string,
  limits: readonly Limit[],
): Promise<{ seconds: number; full: string[] } | undefined> {
  const subjects = limits.map(({ subject }) => subject).sort((a, b) => a.compare(b));
  for (const subject of subjects)
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 2))`, [subject]);
  const counts: Count[] = await tx.query(
    `SELECT subject, count(*)::int AS count,
       ceil(extract(epoch FROM min(at) + interval '${WINDOW_MINUTES} minutes' - now()))::int AS seconds
     FROM auth_attempts WHERE subject = ANY($1) AND at > now() - interval '${WINDOW_MINUTES} minutes' GROUP BY subject`,
    [subjects],
  );
  const full = counts.filter(({ subject, count }) =>
    limits.some((limit) => limit.subject.equals(subject) && count >= limit.max),
  );
  if (full.length > 0)
    return {
      seconds: Math.max(1, ...full.map(({ seconds }) => seconds)),
      full: full.map(({ subject }) => subject.toString('base64')),
    };
  await tx.query('INSERT INTO auth_attempts (attempt_id, subject) SELECT $1, unnest($2::bytea[])', [
    id,
    subjects,
  ]);
  return undefined;
}

/** Returns a hash, so that the table does not contain addresses. */
function subjectOf(kind: AttemptKind, what: string, value: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([kind, what, value]))
    .digest();
}
