import { create, toBinary } from '@bufbuild/protobuf';
import { AttemptSchema } from '#contracts';
import type { EventStore, Unstored } from '#event-store';
import { displayUrl } from '#http-out';
import { derivedId, failpoint, isoOf } from '#kernel';
import { subjectOf } from '#messaging';
import type { Database, Tx } from '#postgres';
import { metrics } from '#telemetry';
import { DISABLE_AFTER_MS, nextAttemptAt } from '../domain/retry-schedule.js';
import type { AttemptResult, Delivery } from './delivery.js';
import { dropPending, dropWaiting, savePending } from './pending-deliveries.js';

const GONE = 410;

interface Recorded extends AttemptResult {
  /** When it is tried again, in ms; undefined: delivered, or given up. */
  nextAt: number | undefined;
}

/** Records attempts, in batches: the fact into ATTEMPTS, what follows from it into the tables. */
export class AttemptRecorder {
  private closed = false;

  constructor(
    private readonly database: Database,
    private readonly store: EventStore,
  ) {}

  /** @throws Error when it is closed and an attempt has no row to be made again from: only the stream knows of it */
  async record(results: readonly AttemptResult[]): Promise<void> {
    if (this.closed && !results.every(({ delivery }) => delivery.pending))
      throw new Error('attempts were cut off by the stop; they are made again');
    if (results.length === 0 || this.closed) return;
    failpoint('delivery-after-post-before-record');
    const recorded = results.map((result) => ({ ...result, nextAt: nextOf(result) }));
    await this.store.publishAll(recorded.map((one) => messageOf(one, one.delivery.attempts + 1)));
    await this.follow(recorded);
    for (const { delivered, nextAt } of recorded)
      metrics.deliveries.inc({
        outcome: delivered ? 'delivered' : nextAt === undefined ? 'given_up' : 'failed',
      });
  }

  /** Puts on record that events are not sent, since their endpoint is disabled: silence would look like delivery. */
  async giveUp(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const at = Date.now();
    const message = 'not sent: the endpoint is disabled; naming it again in a keyword or watch enables it';
    const skipped = { at, durationMs: 0, statusCode: 0, delivered: false, message, nextAt: undefined };
    await this.store.publishAll(deliveries.map((delivery) => messageOf({ ...skipped, delivery }, 0)));
    metrics.deliveries.inc({ outcome: 'given_up' }, deliveries.length);
  }

  /** From now on nothing is recorded: attempts that are cut off stay pending. */
  close(): void {
    this.closed = true;
  }

  /** A first attempt that went well needs no row, and so no write: the common case. */
  private async follow(recorded: readonly Recorded[]): Promise<void> {
    const failed = recorded.filter((one) => !one.delivered);
    const settled = recorded.filter((one) => one.nextAt === undefined && one.delivery.pending);
    const healed = recorded.filter((one) => one.delivered && one.delivery.failingSince !== undefined);
    if (failed.length + settled.length + healed.length === 0) return;
    await this.database.transaction(async (tx) => {
      // Endpoints before what waits for them, always: who waits for an endpoint then holds nothing that its holder wants.
      await markEndpoints(tx, failed, healed);
      await savePending(
        tx,
        failed.flatMap(({ delivery, nextAt }) =>
          nextAt === undefined ? [] : [{ ...delivery, attempts: delivery.attempts + 1, dueAt: nextAt }],
        ),
      );
      await dropPending(
        tx,
        settled.map(({ delivery }) => delivery.eventId),
      );
      await disable(tx, failed);
    });
  }
}

/** @param number from 1; 0 for an attempt that was not made */
function messageOf(
  { delivery, at, durationMs, statusCode, delivered, message, nextAt }: Recorded,
  number: number,
): Unstored {
  const { accountId, watchId, keywordId, source, eventId, endpoint } = delivery;
  const attemptId = derivedId('attempt', eventId, endpoint, String(number), String(at));
  const attempt = create(AttemptSchema, {
    attemptId,
    accountId,
    watchId,
    keywordId,
    source,
    eventId,
    endpoint: displayUrl(endpoint),
    number,
    at: isoOf(at),
    durationMs,
    statusCode,
    delivered,
    message,
    nextAttemptAt: nextAt === undefined ? '' : isoOf(nextAt),
  });
  return {
    subject: subjectOf('ATTEMPTS', accountId, watchId),
    data: toBinary(AttemptSchema, attempt),
    msgId: attemptId,
  };
}

function nextOf({ delivery, delivered, statusCode, at }: AttemptResult): number | undefined {
  if (delivered || statusCode === GONE) return undefined;
  return nextAttemptAt(delivery.attempts + 1, delivery.firstAt, at);
}

/** Notes since when endpoints fail, or that they are well again; their rows are held until the transaction ends. */
async function markEndpoints(
  tx: Tx,
  failed: readonly Recorded[],
  healed: readonly Recorded[],
): Promise<void> {
  // One that has failed and gone well in the same batch is well.
  const marks = byEndpoint([
    ...failed.map(({ delivery, at }) => ({ ...delivery, failingSince: new Date(at) })),
    ...healed.map(({ delivery }) => ({ ...delivery, failingSince: null })),
  ]);
  await tx.query(
    `INSERT INTO webhook_endpoints (account_id, endpoint, failing_since)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[])
     ON CONFLICT (account_id, endpoint) DO UPDATE SET failing_since = CASE WHEN EXCLUDED.failing_since IS NOT NULL
       THEN COALESCE(webhook_endpoints.failing_since, EXCLUDED.failing_since) END`,
    [
      marks.map(({ accountId }) => accountId),
      marks.map(({ endpoint }) => endpoint),
      marks.map(({ failingSince }) => failingSince),
    ],
  );
}

/** 410 says that the endpoint is gone for good; days of nothing but failures say the same. */
async function disable(tx: Tx, failed: readonly Recorded[]): Promise<void> {
  const goneLast = failed
    .map((one) => ({ ...one.delivery, ...one }))
    .sort((a, b) => Number(a.statusCode === GONE) - Number(b.statusCode === GONE));
  for (const { accountId, endpoint, at, statusCode } of byEndpoint(goneLast)) {
    const answer: [unknown[], number] = await tx.query(
      `UPDATE webhook_endpoints SET disabled_at = $3, disabled_reason = $4
       WHERE account_id = $1 AND endpoint = $2 AND disabled_at IS NULL AND ($5 OR failing_since < $6)`,
      [
        accountId,
        endpoint,
        new Date(at),
        statusCode === GONE ? 'the endpoint answered 410 Gone' : 'nothing but failures for 5 days',
        statusCode === GONE,
        new Date(at - DISABLE_AFTER_MS),
      ],
    );
    if (answer[1] > 0) await dropWaiting(tx, accountId, endpoint);
  }
}

/** The last of each endpoint, always in the same order, so that two batches cannot wait for each other's rows. */
function byEndpoint<T extends Pick<Delivery, 'accountId' | 'endpoint'>>(all: readonly T[]): T[] {
  const last = new Map(all.map((one) => [`${one.accountId} ${one.endpoint}`, one]));
  return [...last.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
