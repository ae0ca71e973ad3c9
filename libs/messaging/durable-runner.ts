import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { metrics, traceFrom, withTrace, type Logger } from '#telemetry';
import type { Bus } from './bus.js';
import { park, retry, type Outcome } from './outcome.js';
import { subjectOf, type StreamName } from './streams.js';

/** One durable consumer and what it does with messages. */
export interface Durable {
  stream: StreamName;
  /** Names the consumer on the server: replicas with one name share its messages. */
  name: string;
  /** Messages that one call of `handle` gets at most. */
  batchSize: number;
  /** Batches under way at once, 1 where not said: with more, messages of one subject can overtake each other. */
  batchesAtOnce?: number;
  /** How long a batch that is not full waits for more: fewer, larger writes. 0 where not said. */
  lingerMs?: number;
  /** How long a message may take before the server gives it to another, in ms; extended while it is worked on. */
  ackWaitMs?: number;
  /** True: what follows a message depends on it, so that it is never set aside, only tried again and told. */
  inOrder?: boolean;
  /** One outcome for each message, in order. What it throws is an outage: the batch is tried again. */
  handle(batch: readonly JsMsg[]): Promise<Outcome[]>;
}

/** A durable at work. */
export interface RunningDurable {
  /** Stops pulling and waits for the batch under way; what was pulled and not begun goes back to the server. */
  stop(): Promise<void>;
}

/** After a crash the messages it held come back when this has passed; while one is worked on it is extended. */
const DEFAULT_ACK_WAIT_MS = 10_000;
/** A message that fails alone this often while others pass is set aside. */
const PARK_AFTER_DELIVERIES = 8;
const SOON_MS = 1000;
const LINGER_LOOK_MS = 50;
/**
 * ClickHouse's codes for a server that is overloaded, full or shutting down: 159 timeout, 202 too many queries,
 * 209 and 210 network, 241 memory, 242 read-only, 243 disk, 252 too many parts, 394 query killed.
 */
const CLICKHOUSE_OUTAGES = new Set(['159', '202', '209', '210', '241', '242', '243', '252', '394']);

/** Makes the consumer where it is missing and works through its messages until stopped. */
export async function runDurable(bus: Bus, durable: Durable, log: Logger): Promise<RunningDurable> {
  const messages = await openConsumer(bus, durable);
  return new DurableLoop(bus, durable, log.child({ consumer: durable.name }), messages).start();
}

async function openConsumer(bus: Bus, durable: Durable): Promise<ConsumerMessages> {
  const { batchesAtOnce = 1, ackWaitMs = DEFAULT_ACK_WAIT_MS } = durable;
  await bus.jsm.consumers.add(durable.stream, {
    durable_name: durable.name,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ackWaitMs * 1_000_000,
    max_ack_pending: Math.max(2000, durable.batchSize * 4),
    max_deliver: -1,
  });
  const consumer = await bus.js.consumers.get(durable.stream, durable.name);
  return consumer.consume({ max_messages: durable.batchSize * (batchesAtOnce + 1), expires: 30_000 });
}

class DurableLoop implements RunningDurable {
  private readonly waiting: JsMsg[] = [];
  private readonly held = new Set<JsMsg>();
  private wake: () => void = () => {};
  private stopping = false;
  private finished!: Promise<void>;
  private heartbeat!: NodeJS.Timeout;

  constructor(
    private readonly bus: Bus,
    private readonly durable: Durable,
    private readonly log: Logger,
    private messages: ConsumerMessages,
  ) {}

  start(): this {
    this.heartbeat = setInterval(
      () => {
        for (const message of this.held) message.working();
      },
      (this.durable.ackWaitMs ?? DEFAULT_ACK_WAIT_MS) / 3,
    );
    void this.collect();
    this.finished = this.workAtOnce(this.durable.batchesAtOnce ?? 1);
    return this;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.messages.close();
    await this.finished;
    clearInterval(this.heartbeat);
    for (const message of this.waiting) message.nak();
    await this.bus.nc.flush();
  }

  /** A consumer that ends although nobody stopped it (deleted on the server) is made again: silence is no answer. */
  private async collect(): Promise<void> {
    while (!this.stopping) {
      try {
        for await (const message of this.messages) {
          this.waiting.push(message);
          this.held.add(message);
          this.wake();
        }
        if (this.stopping) return;
        this.log.error('the consumer has ended; it is opened again');
        await wait(SOON_MS);
        this.messages = await openConsumer(this.bus, this.durable);
      } catch (error) {
        this.log.error({ err: error }, 'messages cannot be received');
        await wait(SOON_MS);
      }
    }
  }

  private async workAtOnce(batches: number): Promise<void> {
    await Promise.all(Array.from({ length: batches }, () => this.work()));
  }

  private async work(): Promise<void> {
    while (!this.stopping) {
      if (this.waiting.length === 0) {
        await this.arrival();
        continue;
      }
      await this.linger();
      const batch = this.waiting.splice(0, this.durable.batchSize);
      const outcomes = await this.outcomesOf(batch);
      await Promise.all(
        batch.map((message, index) => this.settle(message, outcomes[index] ?? retry(SOON_MS))),
      );
    }
  }

  private async linger(): Promise<void> {
    const end = Date.now() + (this.durable.lingerMs ?? 0);
    while (!this.stopping && this.waiting.length < this.durable.batchSize && Date.now() < end)
      await wait(Math.min(LINGER_LOOK_MS, end - Date.now()));
  }

  /** Settles when a message has come, or when it is time to stop. */
  private arrival(): Promise<void> {
    return new Promise((resolve) => {
      const others = this.wake;
      this.wake = () => {
        this.wake = () => {};
        others();
        resolve();
      };
    });
  }

  private async outcomesOf(batch: readonly JsMsg[]): Promise<Outcome[]> {
    const first = batch[0];
    const trace = traceFrom(first?.headers?.get('traceparent') || undefined);
    try {
      return await withTrace(trace, () => this.durable.handle(batch));
    } catch (error) {
      if (batch.length === 1 && first) return [this.afterFailure(first, error)];
      // One bad message must not hold up the others: each is tried by itself.
      const outcomes: Outcome[] = [];
      for (const message of batch) outcomes.push(...(await this.outcomesOf([message])));
      return outcomes;
    }
  }

  private afterFailure(message: JsMsg, error: unknown): Outcome {
    const deliveries = message.info.deliveryCount;
    this.log.error({ err: error, subject: message.subject, seq: message.seq, deliveries }, 'handler failed');
    if (deliveries >= PARK_AFTER_DELIVERIES && !this.durable.inOrder && !isOutage(error))
      return park(error instanceof Error ? error.message : String(error));
    return retry(Math.min(30_000, 250 * 2 ** Math.min(deliveries, 7)));
  }

  /** Never throws: a message that could not be settled comes again. */
  private async settle(message: JsMsg, outcome: Outcome): Promise<void> {
    this.held.delete(message);
    metrics.messages.inc({ consumer: this.durable.name, outcome: outcome.kind });
    try {
      await this.answer(message, outcome);
    } catch (error) {
      this.log.error(
        { err: error, seq: message.seq, outcome: outcome.kind },
        'a message could not be settled',
      );
      // Where the connection itself is gone the server takes the message back when its time is over.
      if (!this.bus.nc.isClosed() && !this.bus.nc.isDraining()) message.nak(SOON_MS);
    }
  }

  private async answer(message: JsMsg, outcome: Outcome): Promise<void> {
    switch (outcome.kind) {
      case 'done':
        message.ack();
        return;
      case 'retry':
        message.nak(outcome.afterMs);
        return;
      case 'park':
        // The copy is stored before the original is given up: a crash between leaves it twice, never nowhere.
        await this.parkMessage(message, outcome.reason);
        message.term();
        return;
    }
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

/** Stores that cannot be reached are no fault of the message. */
function isOutage(error: unknown): boolean {
  const code = String((error as { code?: unknown }).code ?? '');
  const text = error instanceof Error ? error.message : '';
  return (
    /^(ECONN\w*|ETIMEDOUT|EPIPE|ENOTFOUND|57P0\w|08\w{3}|53\w{3}|40P01|40001|25006|58030)$/.test(code) ||
    CLICKHOUSE_OUTAGES.has(code) ||
    /timeout|connection (closed|terminated|refused)|socket hang up|no responders|Connection terminated/i.test(
      text,
    )
  );
}
