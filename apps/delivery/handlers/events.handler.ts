import type { JsMsg } from '@nats-io/jetstream';
import { Controller, Inject } from '@nestjs/common';
import { within } from '#kernel';
import {
  done,
  isCopy,
  isOlderThanConsumer,
  later,
  wasHandledBefore,
  type Later,
  type Outcome,
} from '#messaging';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { causeOf, type Logger } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { BatchAttempts } from '../attempts/batch-attempts.js';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { GIVE_UP_AFTER_MS } from '../domain/retry-schedule.js';
import { FirstDeliveries, type NewDeliveries } from '../attempts/first-deliveries.js';
import { extendClaims, returnPending, savePending } from '../attempts/pending-deliveries.js';
import { readPushedEvent, type ReadEvent } from '../wire/pushed-event.reader.js';

/** Attempts of a batch that have not started within this time are left to the retry loop (retry.loop.ts). */
const BATCH_TIMEOUT_MS = 1000;
/** How often a batch checks whether only late or slow attempts are left. */
const LOOK_MS = 20;
/** A mail for which no connection was free waits this long before its next attempt. */
const NO_ROOM_MS = 1000;

/** The parts of a message that the handler needs. */
type EventMessage = Pick<JsMsg, 'data' | 'seq' | 'time' | 'redelivered'> & Partial<Pick<JsMsg, 'headers'>>;

/**
 * Makes the first attempt of each event, directly from the stream. Deliveries that cannot be attempted immediately are
 * stored in `pending_deliveries`, and the retry loop attempts them.
 */
@Controller()
export class EventsHandler {
  private readonly stragglers = new Set<Promise<void>>();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly first: FirstDeliveries,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Resolves when attempts that run longer than their batch have ended. */
  async drain(): Promise<void> {
    await Promise.all(this.stragglers);
  }

  // Two batches often end at the same time. While both are recorded, the attempts of a third batch run. With only two
  // batches, no request ran for 8 to 11 % of the time. A replica pulls at most four batches, one of them in advance.
  // These are 1,500 messages, and 2,000 messages can be unacknowledged. So a replica that hangs does not stop the other
  // replicas. Batches begin at least 10 ms apart. Otherwise, while the events of a check arrive, most batches would
  // have one or two events.
  @ConsumerPattern({ stream: 'EVENTS', name: 'delivery', batchSize: 375, batchesAtOnce: 3, everyMs: 10 })
  async handle(batch: readonly EventMessage[]): Promise<(Outcome | Later)[]> {
    const old = new Set(batch.filter(isTooOld));
    if (old.size > 0)
      this.log.warn(
        { events: old.size },
        'the consumer is new; events that are older than 48 hours are not delivered',
      );
    const events = batch.map((message) => ({
      event: readPushedEvent(message.data),
      cause: causeOf(message),
      seq: message.seq,
      storedAt: message.time.getTime(),
      handledSince: handledSince(message),
    }));
    const delivered = events.filter(({ event }, index) => mayBeDelivered(event) && !old.has(batch[index]!));
    if (delivered.length === 0) return batch.map(() => done);
    const { late, attempts } = await this.deliver(await this.first.of(delivered));
    if (late.size === 0) return batch.map(() => done);
    const outcome = later(this.finish(attempts).then(() => done));
    return events.map(({ event }) => (late.has(event.eventId) ? outcome : done));
  }

  /**
   * Begins the attempts, and records those that end soon.
   * @returns `late`: the ids of events with an attempt that is still open; `finish` records these attempts
   */
  private async deliver({ deliveries, paced, unsent }: NewDeliveries) {
    await this.recorder.giveUp(unsent);
    // Stored before any attempt, so that other batches and replicas soon see that earlier messages wait.
    await this.savePending(paced);
    const attempts = new BatchAttempts(deliveries, this.queues);
    await this.wait(attempts, () => this.queues.areLate(attempts.open));
    return this.orCancel(attempts, async () => {
      const { results, refused, open } = attempts.take();
      await this.savePending(refused);
      await this.recorder.record(results);
      return { late: new Set(open.map(({ eventId }) => eventId)), attempts };
    });
  }

  /** Records the late attempts. Slow attempts are saved as pending deliveries, and recorded when they end. */
  private async finish(attempts: BatchAttempts): Promise<void> {
    await this.wait(attempts, () => !this.queues.mayEndSoon(attempts.open));
    await this.orCancel(attempts, async () => {
      const { results, refused, underWay } = attempts.close();
      await this.savePending(
        refused,
        underWay.map(([delivery]) => delivery),
      );
      for (const [delivery, attempt] of underWay) this.follow(delivery, attempt);
      await this.recorder.record(results);
    });
  }

  /**
   * Runs `record`. If it fails, cancels the attempts that have not started, because NATS delivers their events again.
   */
  private async orCancel<T>(attempts: BatchAttempts, record: () => Promise<T>): Promise<T> {
    try {
      return await record();
    } catch (error) {
      this.queues.cancelWaiting(attempts.open);
      throw error;
    }
  }

  /**
   * Resolves when all attempts have ended, when `isEnough` returns true, or at the time limit of the batch. At the time
   * limit, cancels the deliveries that have not started.
   */
  private async wait({ settled, open, startedAt }: BatchAttempts, isEnough: () => boolean): Promise<void> {
    while (!(await within(LOOK_MS, settled))) {
      if (isEnough()) return;
      // Cancelled deliveries are stored in `pending_deliveries` by the caller.
      if (Date.now() >= startedAt + BATCH_TIMEOUT_MS) return this.queues.cancelWaiting(open);
    }
  }

  /**
   * @param underWay deliveries whose attempts run. Their rows count as claimed, so the retry loop repeats such an attempt
   *   only if its result is not recorded in time, for example after a crash
   */
  private async savePending(waiting: readonly Delivery[], underWay: readonly Delivery[] = []): Promise<void> {
    const rows = [...waiting, ...underWay];
    if (underWay.length === 0) return savePending(this.database.manager, rows);
    await this.database.transaction(async (tx) => {
      await savePending(tx, rows);
      await extendClaims(tx, underWay);
    });
  }

  private follow(delivery: Delivery, attempt: Promise<AttemptResult | undefined>): void {
    const straggler = attempt
      .then((result) =>
        result
          ? this.recorder.record([{ ...result, delivery: { ...delivery, pending: true } }])
          : returnPending(this.database, [delivery], NO_ROOM_MS),
      )
      .catch((error: unknown) =>
        this.log.error({ err: error }, 'an attempt could not be recorded; it is repeated'),
      )
      .finally(() => this.stragglers.delete(straggler));
    this.stragglers.add(straggler);
  }
}

/**
 * Returns false for events that no webhook and no channel gets: events of backfilled items, and most events of dropped
 * items.
 */
function mayBeDelivered({ push, ruleWebhook, notifyChannelIds, notifyKeywordChannels }: ReadEvent): boolean {
  return push || ruleWebhook || notifyKeywordChannels || notifyChannelIds.length > 0;
}

/**
 * If somebody deletes the consumer on the server, EVENTS is read from its beginning. Returns true for events whose
 * deliveries would have been given up meanwhile.
 */
function isTooOld(message: EventMessage): boolean {
  return isOlderThanConsumer(message) && message.time.getTime() < Date.now() - GIVE_UP_AFTER_MS;
}

/**
 * Returns the earliest time at which an attempt of the event can have been recorded, in ms; undefined for a new event.
 */
function handledSince(message: EventMessage): number | undefined {
  if (!wasHandledBefore(message)) return undefined;
  return isCopy(message) ? 0 : message.time.getTime();
}
