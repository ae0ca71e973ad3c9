import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import PQueue from 'p-queue';
import { failpoint, Repeated, within } from '#kernel';
import { BUS, DATABASE, LOG, type Loop } from '#platform';
import { getMessage, type Bus } from '#messaging';
import type { Database } from '#postgres';
import { continueTrace, metrics, type Logger } from '#telemetry';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { bringForwardFar } from './attempts/bring-forward.js';
import { PendingClaims } from './attempts/claims.js';
import type { AttemptResult, Delivery } from './attempts/delivery.js';
import { EndpointQueues, STOP_TIMEOUT_MS } from './attempts/endpoint-queues.js';
import { extendClaims, returnPending, savePending } from './attempts/pending-deliveries.js';
import type { Address } from './attempts/targets.js';
import { waitingTimes } from './attempts/waiting-times.js';

const PAUSE_MS = 500;
const PER_ENDPOINT = 32;
/**
 * Results that arrive within this time are recorded together: a transaction for each result would cost more than the
 * attempt.
 */
const TOGETHER_MS = 20;
const MAX_RECORDED_TOGETHER = 200;
/**
 * If the attempt at a claimed delivery has not started within this time, the delivery becomes due again: if the attempt
 * started later, the claim could end during the attempt.
 */
const START_WITHIN_MS = 2000;
/** Attempts that are recorded later than this are late. A claim of a delivery lasts four times as long. */
const RECORDED_WITHIN_MS = 5000;
/** Time between two extensions of claims. */
const EXTEND_EVERY_MS = 4000;
/** A claimed mail for which no attempt was made is due again after this time. */
const NO_ROOM_MS = 1000;
/** Time between two measurements of the waiting deliveries. */
const AGE_EVERY_MS = 15_000;
/** Time between two searches for deliveries that wait too long: rare, because each search reads all of them. */
const BRING_FORWARD_EVERY_MS = 600_000;

/** A group of deliveries that is claimed and attempted separately. */
interface Group {
  byMail: boolean;
  /** Maximum number of deliveries in one claim. */
  max: number;
  /** Claimed deliveries. */
  queue: PQueue;
  /** The next claim begins after this endpoint; undefined: at the first endpoint. */
  after: Address | undefined;
  /** Claimed deliveries for which no attempt could be made. */
  noRoom: Delivery[];
}

/**
 * Makes the attempts of the deliveries in the table `pending_deliveries`, which survives a restart. All mails go to one
 * server, which accepts few mails at the same time. So only as many mails are claimed as the server accepts in a short
 * time.
 */
@Injectable()
export class RetryLoop implements Loop {
  readonly name = 'retries';
  private readonly underWay = new Set<Promise<void>>();
  private readonly groups: readonly Group[] = [
    { byMail: false, max: 1000, queue: new PQueue(), after: undefined, noRoom: [] },
    // The number of concurrent attempts: 8 mails are sent to the server at the same time, 8 wait for a late reply, and 8
    // wait for their turn.
    { byMail: true, max: 64, queue: new PQueue({ concurrency: 24 }), after: undefined, noRoom: [] },
  ];
  private readonly ended: AttemptResult[] = [];
  private recording: Promise<void> | undefined;
  private readonly repeated: readonly Repeated[];

  constructor(
    @Inject(DATABASE) private readonly database: Database,
    @Inject(BUS) private readonly bus: Bus,
    private readonly claims: PendingClaims,
    private readonly queues: EndpointQueues,
    private readonly recorder: AttemptRecorder,
    @Inject(LOG) private readonly log: Logger,
  ) {
    this.repeated = [
      ...this.groups.map(
        (group) =>
          new Repeated({
            pauseMs: PAUSE_MS,
            run: () => this.pass(group),
            failed: (error) => log.error({ err: error }, 'pending deliveries could not be claimed'),
          }),
      ),
      new Repeated({
        pauseMs: EXTEND_EVERY_MS,
        run: () => this.extendClaims(),
        failed: (error) => log.warn({ err: error }, 'claims of running attempts could not be extended'),
      }),
      new Repeated({
        pauseMs: AGE_EVERY_MS,
        run: () => this.measureAge(),
        failed: (error) =>
          log.warn({ err: error }, 'the age of the oldest undelivered event could not be measured'),
      }),
      new Repeated({
        pauseMs: BRING_FORWARD_EVERY_MS,
        run: () => bringForwardFar(database),
        failed: (error) => log.warn({ err: error }, 'deliveries that wait too long could not be made due'),
      }),
    ];
  }

  start(): void {
    for (const one of this.repeated) one.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.repeated.map((one) => one.stop()));
    await within(STOP_TIMEOUT_MS, Promise.all(this.underWay));
    await Promise.all(this.groups.map((group) => this.returnUnattempted(group)));
  }

  /** @returns true if more deliveries can be due now */
  private async pass(group: Group): Promise<boolean> {
    await this.returnUnattempted(group);
    if (this.isRecordingLate()) return false;
    const { queue, byMail, max, after } = group;
    if (!(await within(PAUSE_MS, queue.onSizeLessThan(max / 2)))) return true;
    // The time limit begins before the claim: the comparison with ATTEMPTS can take seconds, and the claim must not end
    // during an attempt.
    const startBy = Date.now() + START_WITHIN_MS;
    const { ready, paced, moved, givenUp, delivered, next } = await this.claims.claim({
      ...{ byMail, after, perEndpoint: PER_ENDPOINT },
      max: max - queue.size,
    });
    group.after = next;
    await this.recorder.drop(delivered, true);
    // The delivery is stored under the new address before it is given up at the old address. After a crash between
    // these two steps, the delivery is moved again. The new address can then get the event twice, but no event is lost.
    await savePending(this.database.manager, moved);
    await this.recorder.giveUp(givenUp);
    await returnPending(this.database, paced);
    if (ready.length > 0) failpoint('delivery-after-claim-before-post');
    for (const delivery of ready) {
      const attempt = this.attempt(delivery, group, startBy)
        .catch((error: unknown) =>
          this.log.error({ err: error }, 'an attempt could not be made; it is repeated'),
        )
        .finally(() => this.underWay.delete(attempt));
      this.underWay.add(attempt);
    }
    return ready.length + moved.length > 0 || after !== undefined;
  }

  private async attempt(delivery: Delivery, { queue, noRoom }: Group, startBy: number): Promise<void> {
    const result = await queue.add(async () =>
      Date.now() > startBy ? undefined : continueTrace(delivery.cause, () => this.queues.attempt(delivery)),
    );
    if (!result) return void noRoom.push(delivery);
    this.ended.push(result);
    await (this.recording ??= this.record());
  }

  private async record(): Promise<void> {
    while (this.ended.length > 0) {
      await wait(TOGETHER_MS);
      await this.recorder
        .record(this.ended.splice(0, MAX_RECORDED_TOGETHER))
        .catch((error: unknown) =>
          this.log.error({ err: error }, 'attempts could not be recorded; they are repeated'),
        );
    }
    // `recording` is reset in the same synchronous step as the last check of `ended`, so that no result is lost.
    this.recording = undefined;
  }

  /**
   * Returns true if attempts have waited for their record for longer than `RECORDED_WITHIN_MS`. Nothing is claimed then,
   * because further attempts could not be recorded either.
   */
  private isRecordingLate(): boolean {
    const [oldest] = this.ended;
    const since = Math.min(
      this.recorder.recordingSince ?? Infinity,
      oldest ? oldest.at + oldest.durationMs : Infinity,
    );
    return Date.now() - since > RECORDED_WITHIN_MS;
  }

  /**
   * Extends the claims of the deliveries whose attempts take long, for example because the mail server answers late, or
   * wait for their record. Otherwise a replica would claim these deliveries and send them again.
   */
  private extendClaims(): Promise<void> {
    const waiting = [...this.ended, ...this.recorder.unrecorded].map(({ delivery }) => delivery);
    return extendClaims(this.database.manager, [...this.queues.runningFor(EXTEND_EVERY_MS), ...waiting]);
  }

  /**
   * Makes claimed deliveries due again if no attempt could be made for them. They are due immediately and keep their
   * order. This does not repeat without end, because nothing is claimed for an endpoint that accepts no more requests
   * now. Mails wait longer, because all mails go to one server.
   */
  private async returnUnattempted({ byMail, noRoom }: Group): Promise<void> {
    await returnPending(this.database, noRoom.splice(0), byMail ? NO_ROOM_MS : undefined);
  }

  /**
   * Measures the age of the oldest event that waits for delivery, in `pending_deliveries` or in the stream, and the
   * longest delay of a delivery. An event in the stream waits for its first attempt, so its delay is its age.
   */
  private async measureAge(): Promise<void> {
    const { oldest, late } = await waitingTimes(this.database);
    const inStream = await this.ageInStream();
    metrics.oldestUndelivered.set({}, Math.max(oldest ?? 0, inStream));
    metrics.dueDeliveries.set({}, Math.max(late ?? 0, inStream));
  }

  private async ageInStream(): Promise<number> {
    const info = await this.bus.jsm.consumers.info('EVENTS', 'delivery');
    if (info.num_pending + info.num_ack_pending === 0) return 0;
    const next = await getMessage(this.bus, 'EVENTS', {
      seq: info.ack_floor.stream_seq + 1,
      next_by_subj: 'events.>',
    });
    return next ? Math.max(0, (Date.now() - next.time.getTime()) / 1000) : 0;
  }
}
