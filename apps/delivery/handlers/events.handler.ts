import { fromBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { EventSchema, type Event } from '#contracts';
import { done, type Durable, type Outcome } from '#messaging';
import { DATABASE, LOG } from '#platform';
import type { Database } from '#postgres';
import { metrics, type Logger } from '#telemetry';
import { AttemptRecorder } from '../attempts/attempt-recorder.js';
import type { AttemptResult, Delivery } from '../attempts/delivery.js';
import { EndpointQueues } from '../attempts/endpoint-queues.js';
import { savePending } from '../attempts/pending-deliveries.js';
import { Targets } from '../attempts/targets.js';

/** A batch waits so long for its attempts; what is not finished then goes on without it. */
const BATCH_PATIENCE_MS = 300;
/** An attempt under way is over by then: only a crash leaves its row to the retry lane. */
const UNDER_WAY_MS = 30_000;

/** The first attempt of each event, straight from the stream. What cannot be done at once goes to the retry lane. */
@Injectable()
export class EventsHandler {
  private readonly stragglers = new Set<Promise<void>>();

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    private readonly targets: Targets,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  durable(): Durable {
    return { stream: 'EVENTS', name: 'delivery', batchSize: 1000, handle: (batch) => this.handle(batch) };
  }

  /** Waits for attempts that outlived their batch. */
  async drain(): Promise<void> {
    await Promise.all(this.stragglers);
  }

  private async handle(batch: readonly { data: Uint8Array }[]): Promise<Outcome[]> {
    const events = batch.map(({ data }) => fromBinary(EventSchema, data)).filter((event) => event.push);
    if (events.length > 0) await this.deliver(await this.deliveriesOf(events));
    return batch.map(() => done);
  }

  private async deliveriesOf(events: readonly Event[]): Promise<Delivery[]> {
    const targets = await this.targets.of(events.map((event) => event.watchId));
    const now = Date.now();
    return events.flatMap((event) => {
      const target = targets.get(event.watchId);
      if (!target) return [];
      if (target.disabled) {
        metrics.deliveries.inc({ outcome: 'given_up' });
        return [];
      }
      const { eventId, accountId, watchId, keywordId, source, envelope: body } = event;
      const { endpoint, secret, failingSince } = target;
      return [
        { eventId, accountId, watchId, keywordId, source, endpoint, body, secret, attempts: 0, firstAt: now, failingSince, pending: false },
      ];
    });
  }

  private async deliver(deliveries: readonly Delivery[]): Promise<void> {
    const results: AttemptResult[] = [];
    const open = new Map<Delivery, Promise<AttemptResult | undefined>>();
    const refused: Delivery[] = [];
    for (const delivery of deliveries) open.set(delivery, this.queues.attempt(delivery));
    const settling = [...open].map(([delivery, attempt]) =>
      attempt.then((result) => {
        open.delete(delivery);
        if (result) results.push(result);
        else refused.push(delivery);
      }),
    );
    await firstOf(Promise.all(settling), BATCH_PATIENCE_MS);
    this.queues.callBack(new Set(open.keys()));
    // What was called back settles before the next turn of the event loop, and is counted as refused.
    await new Promise(setImmediate);
    const underWay = [...open];
    const now = Date.now();
    await savePending(this.database.manager, [
      ...refused.map((delivery) => ({ ...delivery, dueAt: now })),
      ...underWay.map(([delivery]) => ({ ...delivery, dueAt: now + UNDER_WAY_MS })),
    ]);
    for (const [delivery, attempt] of underWay) this.follow(delivery, attempt);
    await this.recorder.record(results.splice(0));
  }

  private follow(delivery: Delivery, attempt: Promise<AttemptResult | undefined>): void {
    const straggler = attempt
      .then((result) => (result ? this.recorder.record([{ ...result, delivery: { ...delivery, pending: true } }]) : undefined))
      .catch((error: unknown) => this.log.error({ err: error }, 'an attempt could not be recorded; it is made again'))
      .finally(() => this.stragglers.delete(straggler));
    this.stragglers.add(straggler);
  }
}

async function firstOf(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
