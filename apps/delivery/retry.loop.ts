import { Inject, Injectable } from '@nestjs/common';
import { failpoint, Repeated, within } from '#kernel';
import { BUS, DATABASE, LOG, type Loop } from '#platform';
import type { Bus } from '#messaging';
import type { Database } from '#postgres';
import { continueTrace, metrics, type Logger } from '#telemetry';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { PendingClaims } from './attempts/claims.js';
import type { Delivery } from './attempts/delivery.js';
import { EndpointQueues, STOP_PATIENCE_MS } from './attempts/endpoint-queues.js';
import { returnPending, savePending } from './attempts/pending-deliveries.js';

const PAUSE_MS = 250;
const PER_ENDPOINT = 32;
/** Wait before the next attempt of a delivery whose endpoint accepts no more requests. */
const NO_ROOM_MS = 1000;
const AGE_EVERY_MS = 5000;

/** Processes `pending_deliveries`: the fast and slow retry lanes, which survive a restart. */
@Injectable()
export class RetryLoop implements Loop {
  readonly name = 'retries';
  private readonly underWay = new Set<Promise<void>>();
  /** Claimed deliveries of which no attempt was made. */
  private readonly noRoom: Delivery[] = [];
  private readonly passes = new Repeated({
    pauseMs: PAUSE_MS,
    run: async () => (await this.pass()) > 0,
    failed: (error) => this.log.error({ err: error }, 'pending deliveries could not be claimed'),
  });
  private readonly ages = new Repeated({
    pauseMs: AGE_EVERY_MS,
    run: () => this.measureAge(),
    failed: (error) =>
      this.log.warn({ err: error }, 'the age of the oldest undelivered event could not be measured'),
  });

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(BUS) private readonly bus: Bus,
    private readonly claims: PendingClaims,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  start(): void {
    this.passes.start();
    this.ages.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.passes.stop(), this.ages.stop()]);
    await within(STOP_PATIENCE_MS, Promise.all(this.underWay));
    await this.returnUnattempted();
  }

  private async pass(): Promise<number> {
    await this.returnUnattempted();
    const { ready, paced, moved, givenUp } = await this.claims.claim(PER_ENDPOINT);
    // Stored under the new address before it is given up at the old one: a crash in between sends the event to both.
    await savePending(this.database.manager, moved);
    await this.recorder.giveUp(givenUp);
    const crowded = ready.filter(({ endpoint }) => !this.queues.hasRoom(endpoint));
    this.noRoom.push(...crowded);
    await returnPending(this.database, paced, 'in order');
    const attempted = ready.filter((delivery) => !crowded.includes(delivery));
    if (attempted.length > 0) failpoint('delivery-after-claim-before-post');
    for (const delivery of attempted) {
      const attempt = continueTrace(delivery.cause, () => this.attempt(delivery))
        .catch((error: unknown) =>
          this.log.error({ err: error }, 'an attempt could not be recorded; it is repeated'),
        )
        .finally(() => this.underWay.delete(attempt));
      this.underWay.add(attempt);
    }
    return attempted.length + moved.length;
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const result = await this.queues.attempt(delivery);
    if (result) await this.recorder.record([result]);
    else this.noRoom.push(delivery);
  }

  /** In one query: there can be thousands when mails wait for a connection. */
  private async returnUnattempted(): Promise<void> {
    await returnPending(this.database, this.noRoom.splice(0), new Date(Date.now() + NO_ROOM_MS));
  }

  /** The oldest event that waits, in the retry lane or in the stream. */
  private async measureAge(): Promise<void> {
    const rows: { age: number | null }[] = await this.database.query(
      'SELECT extract(epoch FROM now() - min(first_at))::float8 AS age FROM pending_deliveries',
    );
    metrics.oldestUndelivered.set({}, Math.max(rows[0]?.age ?? 0, await this.ageInStream()));
  }

  private async ageInStream(): Promise<number> {
    const info = await this.bus.jsm.consumers.info('EVENTS', 'delivery');
    if (info.num_pending + info.num_ack_pending === 0) return 0;
    const next = await this.bus.jsm.direct.getMessage('EVENTS', {
      seq: info.ack_floor.stream_seq + 1,
      next_by_subj: 'events.>',
    });
    return next ? Math.max(0, (Date.now() - next.time.getTime()) / 1000) : 0;
  }
}
