import { Controller, Inject } from '@nestjs/common';
import { within } from '#kernel';
import { done, type Outcome } from '#messaging';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { causeOf, type Logger } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { BatchAttempts } from '../attempts/batch-attempts.js';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { FirstDeliveries, type NewDeliveries } from '../attempts/first-deliveries.js';
import { returnPending, savePending } from '../attempts/pending-deliveries.js';
import { readPushedEvent, type ReadEvent } from '../wire/pushed-event.reader.js';

/** How long a batch waits for its attempts to start. Attempts that have not started then go to the retry lane. */
const BATCH_TIMEOUT_MS = 1000;
/** How often a batch checks whether only slow attempts are left. */
const LOOK_MS = 50;
/** A running attempt ends before this time is over, so the retry lane repeats it only after a crash. */
const UNDER_WAY_MS = 15_000;
/** Wait before the next attempt of a delivery for which no connection was free. */
const NO_ROOM_MS = 1000;

/**
 * Makes the first attempt of each event, directly from the stream. Deliveries that cannot be attempted immediately go
 * to the retry lane.
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

  /** Waits for attempts that run longer than their batch. */
  async drain(): Promise<void> {
    await Promise.all(this.stragglers);
  }

  // Two batches often end together. A third batch is sent while both are recorded: with only two batches, no request
  // was running for 8 to 11 % of the time. A replica pulls four batches: 1,500 of the 2,000 messages that may be
  // unacknowledged, so that a replica that hangs does not stop the other replicas. While the events of a poll arrive,
  // batches begin at least 10 ms apart: otherwise most of them would have one or two events.
  @ConsumerPattern({ stream: 'EVENTS', name: 'delivery', batchSize: 375, batchesAtOnce: 3, everyMs: 10 })
  async handle(batch: readonly { data: Uint8Array }[]): Promise<Outcome[]> {
    const events = batch
      .map((message) => ({ event: readPushedEvent(message.data), cause: causeOf(message) }))
      .filter(({ event }) => mayBeDelivered(event));
    if (events.length > 0) await this.deliver(await this.first.of(events));
    return batch.map(() => done);
  }

  private async deliver({ deliveries, paced, unsent }: NewDeliveries): Promise<void> {
    await this.recorder.giveUp(unsent);
    const batch = new BatchAttempts(deliveries, this.queues);
    await this.waitForAttempts(batch);
    const { results, refused, underWay } = batch.close();
    const now = Date.now();
    await savePending(this.database.manager, [
      ...[...refused, ...paced].map((delivery) => ({ ...delivery, dueAt: delivery.firstAt })),
      ...underWay.map(([delivery]) => ({ ...delivery, dueAt: now + UNDER_WAY_MS })),
    ]);
    for (const [delivery, attempt] of underWay) this.follow(delivery, attempt);
    await this.recorder.record(results);
  }

  /** Resolves when all attempts have a result, or when only slow attempts are left. */
  private async waitForAttempts({ settled, open }: BatchAttempts): Promise<void> {
    const waitUntil = Date.now() + BATCH_TIMEOUT_MS;
    while (!(await within(LOOK_MS, settled))) {
      if (!this.queues.mayEndSoon(open)) return;
      // Cancelled deliveries go to the retry lane.
      if (Date.now() >= waitUntil) return this.queues.cancelWaiting(open);
    }
  }

  private follow(delivery: Delivery, attempt: Promise<AttemptResult | undefined>): void {
    const straggler = attempt
      .then((result) =>
        result
          ? this.recorder.record([{ ...result, delivery: { ...delivery, pending: true } }])
          : returnPending(this.database, [delivery], new Date(Date.now() + NO_ROOM_MS)),
      )
      .catch((error: unknown) =>
        this.log.error({ err: error }, 'an attempt could not be recorded; it is repeated'),
      )
      .finally(() => this.stragglers.delete(straggler));
    this.stragglers.add(straggler);
  }
}

/** Returns false for events that no webhook and no channel gets: events of a baseline, and most dropped events. */
function mayBeDelivered({ push, ruleWebhook, notifyChannelIds, notifyKeywordChannels }: ReadEvent): boolean {
  return push || ruleWebhook || notifyKeywordChannels || notifyChannelIds.length > 0;
}
