import type { JsMsg } from '@nats-io/jetstream';
import { headers as natsHeaders } from '@nats-io/nats-core';
import PQueue from 'p-queue';
import { isOutage } from '#outages';
import { arriveShared, metrics, SpanKind, type Logger } from '#telemetry';
import type { Bus } from './bus.js';
import { catchUp } from './catch-up.js';
import type { Durable } from './durable.js';
import { untilAnswered } from './jetstream-requests.js';
import { MessageSupply, openConsumer, type OpenConsumer } from './message-supply.js';
import { markFailed, park, retry, type Later, type Outcome } from './outcome.js';
import { STREAMS, subjectOf } from './streams.js';

/** A running durable consumer. */
export interface RunningDurable {
  /**
   * Stops pulling, and waits for the current batches and for later outcomes. Messages that were pulled but not begun
   * return to the server.
   */
  stop(): Promise<void>;
}

/**
 * A message that has been delivered this often and fails alone is parked. It is not parked if the failure is an outage,
 * if the consumer is `inOrder`, or if the stream contains decisions.
 */
const PARK_AFTER_DELIVERIES = 8;
/**
 * If a store cannot answer, a batch is delivered again as a whole until a message of it has been delivered this often.
 * After that, each message is tried alone, because one of them can cause what looks like an outage.
 */
const ALONE_AFTER_DELIVERIES = 4;
const SOON_MS = 1000;

/**
 * Creates the consumer if it does not exist, and processes its messages until `stop`. Before that, tables that lack
 * acknowledged messages are rebuilt.
 * @throws the error of NATS if the consumer cannot be created
 * @throws what `catchUp` throws
 */
export async function runDurable(bus: Bus, durable: Durable, log: Logger): Promise<RunningDurable> {
  await catchUp(bus, durable, log);
  const open = await untilAnswered(() => openConsumer(bus, durable));
  return new DurableLoop(bus, durable, log.child({ consumer: durable.name }), open);
}

class DurableLoop implements RunningDurable {
  private readonly supply: MessageSupply;
  private readonly finished: Promise<unknown>;
  /** Messages whose outcome comes later. */
  private readonly late = new Set<Promise<void>>();
  /** Messages that were handled alone. If such a message fails, no other message can be at fault. */
  private readonly alone = new WeakSet<JsMsg>();
  /**
   * Handles messages again, after their later outcomes were rejected: one after the other, because a failing store must
   * not get all of them at the same time.
   */
  private readonly lateAlone = new PQueue({ concurrency: 1 });
  private stopping = false;

  constructor(
    private readonly bus: Bus,
    private readonly durable: Durable,
    private readonly log: Logger,
    open: OpenConsumer,
  ) {
    this.supply = new MessageSupply(bus, durable, log, open);
    const workers = Array.from({ length: durable.batchesAtOnce ?? 1 }, () => this.work());
    this.finished = Promise.all(workers);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.supply.close();
    await this.finished;
    await Promise.all(this.late);
    this.supply.end();
    await this.bus.nc.flush();
  }

  private async work(): Promise<void> {
    for (let batch; (batch = await this.supply.take());) {
      const handled = await this.outcomesOf(batch, batch);
      const outcomes = batch.map((_, index) => handled[index] ?? retry(SOON_MS));
      const parking: Promise<void>[] = [];
      const known: Outcome[] = [];
      batch.forEach((message, index) => {
        const outcome = outcomes[index]!;
        if (outcome.kind === 'later') return this.settleLater(message, outcome);
        known.push(outcome);
        const parked = this.settle(message, outcome);
        if (parked) parking.push(parked);
      });
      this.count(known);
      if (parking.length > 0) await Promise.all(parking);
      this.supply.settled(batch);
    }
  }

  /** Handles a part of a batch. @param part the whole batch, or one message that is tried alone */
  private async outcomesOf(part: readonly JsMsg[], batch: readonly JsMsg[]): Promise<(Outcome | Later)[]> {
    const first = part[0];
    if (part.length === 1 && first) this.alone.add(first);
    const causes = new Map(
      part.map((message) => [message, message.headers?.get('traceparent') || undefined] as const),
    );
    const { name, stream } = this.durable;
    const shared = {
      name: `process ${name}`,
      kind: SpanKind.CONSUMER,
      partName: `process messages ${name}`,
      attributes: {
        'messaging.system': 'nats',
        'messaging.destination.name': stream,
        'messaging.batch.message_count': part.length,
      },
    };
    this.supply.reportProgress(batch);
    try {
      return await arriveShared(shared, causes, () => this.durable.handle(part));
    } catch (error) {
      markFailed(part);
      if (this.stopping) {
        // Probably the stop has closed what the handler needs. Then trying each message alone would fail too.
        this.log.warn(
          { err: error, messages: part.length },
          'interrupted by the stop; the messages are delivered again',
        );
        return part.map(() => retry(SOON_MS));
      }
      if (part.length === 1 && first) return [this.afterFailure(first, error)];
      // Each message that is tried alone repeats what the handler does outside the stores, for example requests to
      // webhooks. This is useless while a store cannot answer.
      if (isOutage(error) && part.every(isNew)) {
        this.log.warn(
          { err: error, messages: part.length },
          'a store cannot answer; the messages are delivered again',
        );
        return part.map((message) => retry(pauseAfter(message)));
      }
      // One bad message must not delay the others, so each message is tried alone.
      const outcomes: (Outcome | Later)[] = [];
      for (const message of part) outcomes.push(...(await this.outcomesOf([message], batch)));
      return outcomes;
    }
  }

  private settleLater(message: JsMsg, { outcome }: Later): void {
    this.supply.keep(message);
    const settled = outcome
      .catch((error: unknown) =>
        // Another message of the batch can be at fault, but this is unlikely while a store cannot answer.
        this.stopping || this.alone.has(message) || (isOutage(error) && isNew(message))
          ? this.afterFailure(message, error)
          : this.outcomeAlone(message),
      )
      .then((known) => {
        this.count([known]);
        return this.settle(message, known);
      })
      .finally(() => {
        this.supply.release(message);
        this.late.delete(settled);
      });
    this.late.add(settled);
  }

  /** Handles a message again, after its later outcome was rejected. */
  private async outcomeAlone(message: JsMsg): Promise<Outcome> {
    markFailed([message]);
    const outcomes = await this.lateAlone.add(() => this.outcomesOf([message], [message]));
    const [outcome = retry(SOON_MS)] = outcomes ?? [];
    if (outcome.kind !== 'later') return outcome;
    return outcome.outcome.catch((error: unknown) => this.afterFailure(message, error));
  }

  private afterFailure(message: JsMsg, error: unknown): Outcome {
    if (this.stopping) return retry(SOON_MS);
    const deliveries = message.info.deliveryCount;
    this.log.error({ err: error, subject: message.subject, seq: message.seq, deliveries }, 'handler failed');
    const { inOrder, stream } = this.durable;
    // Retrying a parked message stores the message a second time. A decision would then change the state twice, so no
    // decision is parked.
    const mayPark = !inOrder && !STREAMS[stream].decisions;
    if (deliveries >= PARK_AFTER_DELIVERIES && mayPark && !isOutage(error))
      return park(error instanceof Error ? error.message : String(error));
    return retry(pauseAfter(message));
  }

  private count(outcomes: readonly Outcome[]): void {
    const counts = new Map<Outcome['kind'], number>();
    for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [outcome, count] of counts)
      metrics.messages.add(count, { consumer: this.durable.name, outcome });
  }

  /**
   * Carries out the outcome of a message. Never throws: a message that could not be settled is delivered again.
   * @returns a promise only if there is something to wait for, because thousands of promises for acks would cost time
   */
  private settle(message: JsMsg, outcome: Outcome): Promise<void> | undefined {
    try {
      switch (outcome.kind) {
        case 'done':
          message.ack();
          return undefined;
        case 'retry':
          message.nak(outcome.afterMs);
          return undefined;
        case 'park':
          // The copy is stored before the original is terminated. A crash in between can duplicate the message, but
          // does not lose it.
          return this.parkMessage(message, outcome.reason)
            .then(() => message.term())
            .catch((error: unknown) => this.unsettled(message, outcome, error));
      }
    } catch (error) {
      this.unsettled(message, outcome, error);
      return undefined;
    }
  }

  private unsettled(message: JsMsg, { kind }: Outcome, error: unknown): void {
    this.log.error({ err: error, seq: message.seq, outcome: kind }, 'a message could not be settled');
    // If the connection is closed, the server delivers the message again after its ack wait.
    if (!this.bus.nc.isClosed() && !this.bus.nc.isDraining()) message.nak(SOON_MS);
  }

  private async parkMessage(message: JsMsg, reason: string): Promise<void> {
    const headers = natsHeaders();
    headers.set('earshot-subject', message.subject);
    headers.set('earshot-stream', this.durable.stream);
    headers.set('earshot-seq', String(message.seq));
    headers.set('earshot-reason', reason.replace(/[\r\n]+/g, ' ').slice(0, 500));
    await this.bus.js.publish(subjectOf('PARKED', this.durable.stream, this.durable.name), message.data, {
      msgID: `${this.durable.name}:${message.seq}`,
      headers,
    });
    this.log.error({ subject: message.subject, seq: message.seq, reason }, 'message parked');
  }
}

/** Returns the pause before the next delivery of a message that has failed, in ms. */
function pauseAfter({ info }: JsMsg): number {
  return Math.min(30_000, 250 * 2 ** Math.min(info.deliveryCount, 7));
}

/** Returns whether the message has been delivered less than `ALONE_AFTER_DELIVERIES` times. */
function isNew({ info }: JsMsg): boolean {
  return info.deliveryCount < ALONE_AFTER_DELIVERIES;
}
