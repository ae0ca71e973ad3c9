import { Controller, Inject } from '@nestjs/common';
import { within } from '#kernel';
import { done, type Outcome } from '#messaging';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { causeOf, type Logger } from '#telemetry';
import { ConsumerPattern } from '#transport';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import { DISABLED } from '../attempts/claims.js';
import { BatchAttempts } from '../attempts/batch-attempts.js';
import type { AttemptResult, Delivery, GivenUp } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { savePending } from '../attempts/pending-deliveries.js';
import { Targets, type Webhook } from '../attempts/targets.js';
import { readPushedEvent, type ReadEvent } from '../wire/pushed-event.reader.js';

/** How long a batch waits for its attempts to start. Attempts that have not started then go to the retry lane. */
const BATCH_PATIENCE_MS = 1000;
/** How often a batch checks whether only slow attempts are left. */
const LOOK_MS = 50;
/** A running attempt has ended by then: the retry lane repeats it only after a crash. */
const UNDER_WAY_MS = 15_000;

/** An event, and the step that caused its delivery. */
interface CausedEvent {
  event: ReadEvent;
  cause: string | undefined;
}

/**
 * Makes the first attempt of each event, directly from the stream. Deliveries that cannot be attempted at once go to
 * the retry lane.
 */
@Controller()
export class EventsHandler {
  private readonly stragglers = new Set<Promise<void>>();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly targets: Targets,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Waits for attempts that run longer than their batch. */
  async drain(): Promise<void> {
    await Promise.all(this.stragglers);
  }

  // Two batches often end together. The third is sent while both are recorded: with two, no request was under way for
  // 8 to 11 % of the time.
  // A replica pulls four batches: 1,500 of the 2,000 messages that may be unacknowledged, so that one that hangs does not stop
  // the others.
  @ConsumerPattern({ stream: 'EVENTS', name: 'delivery', batchSize: 375, batchesAtOnce: 3 })
  async handle(batch: readonly { data: Uint8Array }[]): Promise<Outcome[]> {
    const events = batch
      .map((message) => ({ event: readPushedEvent(message.data), cause: causeOf(message) }))
      .filter(({ event }) => event.push || event.ruleWebhook);
    if (events.length > 0) await this.deliver(await this.deliveriesOf(events));
    return batch.map(() => done);
  }

  private async deliveriesOf(events: readonly CausedEvent[]): Promise<Delivery[]> {
    const webhooks = await this.targets.webhooksOf(events.map(({ event }) => event.watchId));
    const now = Date.now();
    const deliveries: Delivery[] = [];
    const unsent: GivenUp[] = [];
    for (const { event, cause } of events) {
      const webhook = webhooks.get(event.watchId);
      if (!webhook || !isFor(webhook, event)) continue;
      const { eventId, accountId, watchId, keywordId, source, envelope: body } = event;
      const { endpoint, endpointId, signing, failingSince } = webhook;
      const delivery: Delivery = {
        eventId,
        target: { kind: 'webhook', id: endpointId },
        accountId,
        watchId,
        keywordId,
        source,
        endpoint,
        body,
        signing,
        attempts: 0,
        firstAt: now,
        failingSince,
        pending: false,
        cause,
      };
      if (webhook.disabledReason !== undefined) unsent.push({ ...delivery, reason: DISABLED });
      else deliveries.push(delivery);
    }
    await this.recorder.giveUp(unsent);
    return deliveries;
  }

  private async deliver(deliveries: readonly Delivery[]): Promise<void> {
    const batch = new BatchAttempts(deliveries, this.queues);
    await this.haveTried(batch);
    const { results, refused, underWay } = batch.close();
    const now = Date.now();
    await savePending(this.database.manager, [
      ...refused.map((delivery) => ({ ...delivery, dueAt: now })),
      ...underWay.map(([delivery]) => ({ ...delivery, dueAt: now + UNDER_WAY_MS })),
    ]);
    for (const [delivery, attempt] of underWay) this.follow(delivery, attempt);
    await this.recorder.record(results);
  }

  /** Resolves when all attempts have a result, or only slow ones are left. */
  private async haveTried({ settled, open }: BatchAttempts): Promise<void> {
    const patientUntil = Date.now() + BATCH_PATIENCE_MS;
    while (!(await within(LOOK_MS, settled))) {
      if (!this.queues.mayEndSoon(open)) return;
      // Cancelled deliveries get no attempt at once.
      if (Date.now() >= patientUntil) return this.queues.callBack(open);
    }
  }

  private follow(delivery: Delivery, attempt: Promise<AttemptResult | undefined>): void {
    const straggler = attempt
      .then((result) =>
        result ? this.recorder.record([{ ...result, delivery: { ...delivery, pending: true } }]) : undefined,
      )
      .catch((error: unknown) =>
        this.log.error({ err: error }, 'an attempt could not be recorded; it is repeated'),
      )
      .finally(() => this.stragglers.delete(straggler));
    this.stragglers.add(straggler);
  }
}

/** True if the webhook gets the event: in the ordinary way, or because a rule or an alert sends it. */
function isFor({ isOrdinary, only }: Webhook, { push, type, ruleWebhook }: ReadEvent): boolean {
  return ruleWebhook || (push && isOrdinary && (!only || only.includes(type)));
}
