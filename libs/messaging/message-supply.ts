import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AckPolicy,
  DeliverPolicy,
  type ConsumeCallback,
  type Consumer,
  type ConsumerMessages,
  type FetchMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import type { Logger } from '#telemetry';
import type { Bus } from './bus.js';
import type { Durable } from './durable.js';
import { markOlder } from './outcome.js';

/**
 * The server redelivers the messages of a crashed replica after this time. A running replica extends this time for its
 * messages.
 */
const DEFAULT_ACK_WAIT_MS = 10_000;
const DEFAULT_HANDLE_WITHIN_MS = 300_000;
const SOON_MS = 1000;
const LINGER_LOOK_MS = 50;
const PULL_EXPIRES_MS = 30_000;
/** The server reports an idle pull at this interval. After two missing reports the pull is restarted. */
const IDLE_HEARTBEAT_MS = 5000;

/**
 * The supplies of one connection share about this number of bytes, because the server closes a connection with more
 * than 64 MiB of unsent data. A supply that starts alone uses the share of those that start later for one pull, so this
 * number is smaller.
 */
const PULLED_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const suppliesOf = new WeakMap<Bus, number>();

/** What the client returns for the state of the connection. Its type lacks `stop` (version 3.4.0). */
type Statuses = ReturnType<Bus['nc']['status']> & { stop(): void };

/** A consumer of the server. */
export interface OpenConsumer {
  consumer: Consumer;
  /** When the consumer was created, in ms. */
  createdAt: number;
}

/** Creates the consumer if it does not exist. @throws the error of NATS, also if it exists with other settings */
export async function openConsumer(bus: Bus, durable: Durable): Promise<OpenConsumer> {
  const { created } = await bus.jsm.consumers.add(durable.stream, {
    durable_name: durable.name,
    ...(durable.subjects !== undefined && { filter_subject: durable.subjects }),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: (durable.ackWaitMs ?? DEFAULT_ACK_WAIT_MS) * 1_000_000,
    max_ack_pending: Math.max(2000, durable.batchSize * 4),
    max_deliver: -1,
  });
  const consumer = await bus.js.consumers.get(durable.stream, durable.name);
  return { consumer, createdAt: Date.parse(created) };
}

/**
 * The messages that one replica has pulled for a durable consumer: the batches being processed and one more. So
 * processing rarely waits for a pull, and a slow replica holds only few messages that other replicas could handle. The
 * messages whose outcome comes later (late messages) count as messages being processed. The replica extends the ack
 * wait of all these messages, except of those that hang. If all batches of the replica hang, the replica returns the
 * waiting messages to the server.
 */
export class MessageSupply {
  private readonly waiting: JsMsg[] = [];
  // All times are of `performance.now()`: after the wall clock was set back, waits would last too long.
  /** The batches being processed, and the time of their last progress. */
  private readonly underWay = new Map<readonly JsMsg[], number>();
  /** Messages whose outcome comes later, and when their handler returned. */
  private readonly late = new Map<JsMsg, number>();
  /** Hanging batches and late messages that have been reported. */
  private readonly reported = new WeakSet<readonly JsMsg[] | JsMsg>();
  /**
   * Signals a change: a message arrived, a batch is settled, a late message has its outcome, or the supply is closing.
   */
  private readonly changes = new EventEmitter();
  private readonly batchesAtOnce: number;
  private readonly handleWithinMs: number;
  private readonly heartbeat: NodeJS.Timeout;
  /** Expected size of the largest message of the next pull, in bytes. A pull reduces it by half at most. */
  private expectedBytes = MAX_MESSAGE_BYTES;
  /** The size of the largest message of the present pull, in bytes. */
  private largestBytes = 0;
  /** When the last batch was taken. */
  private takenAt = -Infinity;
  private messages?: ConsumerMessages;
  private readonly statuses: Statuses;
  private closing = false;

  constructor(
    private readonly bus: Bus,
    private readonly durable: Durable,
    private readonly log: Logger,
    private open: OpenConsumer | undefined,
  ) {
    this.batchesAtOnce = durable.batchesAtOnce ?? 1;
    this.handleWithinMs = durable.handleWithinMs ?? DEFAULT_HANDLE_WITHIN_MS;
    this.heartbeat = setInterval(() => this.beat(), (durable.ackWaitMs ?? DEFAULT_ACK_WAIT_MS) / 3);
    this.statuses = bus.nc.status() as Statuses;
    suppliesOf.set(bus, (suppliesOf.get(bus) ?? 0) + 1);
    void this.pull();
    void this.pullAnew();
  }

  /** Waits for the next batch and returns it; returns undefined if the supply is closing. */
  async take(): Promise<readonly JsMsg[] | undefined> {
    while (!this.closing) {
      if (this.waiting.length === 0) {
        await once(this.changes, 'change');
        continue;
      }
      await this.linger();
      // Meanwhile it is possible that another worker has taken the messages, or that the supply is closing.
      if (this.closing || this.waiting.length === 0) continue;
      const batch = this.waiting.splice(0, this.durable.batchSize);
      this.takenAt = performance.now();
      this.underWay.set(batch, this.takenAt);
      return batch;
    }
    return undefined;
  }

  /** Reports progress of a batch that was taken: its time limit starts again. */
  reportProgress(batch: readonly JsMsg[]): void {
    if (this.underWay.has(batch)) this.underWay.set(batch, performance.now());
  }

  /** Reports that every message of the batch has its outcome, or is kept. */
  settled(batch: readonly JsMsg[]): void {
    this.underWay.delete(batch);
    this.changes.emit('change');
  }

  /** Extends the ack wait of a message whose outcome comes later, although its batch has ended. */
  keep(message: JsMsg): void {
    this.late.set(message, performance.now());
  }

  /** Reports that a kept message has its outcome. */
  release(message: JsMsg): void {
    this.late.delete(message);
    this.changes.emit('change');
  }

  /** Stops pulling. `take` returns undefined from then on. */
  async close(): Promise<void> {
    this.closing = true;
    this.changes.emit('change');
    await this.messages?.close();
  }

  /** Returns to the server the messages that were not begun. Call this function after all batches were processed. */
  end(): void {
    clearInterval(this.heartbeat);
    this.statuses.stop();
    suppliesOf.set(this.bus, (suppliesOf.get(this.bus) ?? 1) - 1);
    this.giveBack();
  }

  private async pull(): Promise<void> {
    while (!this.closing) {
      try {
        // A consumer that somebody has deleted on the server is created again.
        const { consumer, createdAt } = (this.open ??= await openConsumer(this.bus, this.durable));
        while (!this.closing && this.room() < this.durable.batchSize) await once(this.changes, 'change');
        if (this.closing) return;
        const pull: FetchMessages & ConsumeCallback = {
          max_messages: Math.min(this.room(), this.limit()),
          expires: PULL_EXPIRES_MS,
          idle_heartbeat: IDLE_HEARTBEAT_MS,
          // Iterating would cost several promises for each message. The types of `fetch` lack the callback, but the
          // library uses it for every pull (version 3.4.0).
          callback: (message) => this.receive(message, createdAt),
        };
        this.largestBytes = 0;
        this.messages = await consumer.fetch(pull);
        if (this.closing) void this.messages.close();
        const fault = await this.messages.closed();
        if (this.largestBytes > 0) this.expectedBytes = Math.max(this.largestBytes, this.expectedBytes / 2);
        if (fault) throw fault;
      } catch (error) {
        if (this.closing) return;
        this.log.error({ err: error }, 'messages cannot be received; the consumer is opened again');
        this.open = undefined;
        await wait(SOON_MS);
      }
    }
  }

  /**
   * After a lost connection, the library repeats the pull. If large messages that did not arrive were the cause, they
   * would be too many again. So the pull is closed, and the next one expects large messages.
   */
  private async pullAnew(): Promise<void> {
    for await (const { type } of this.statuses) {
      if (type !== 'reconnect') continue;
      this.largestBytes = MAX_MESSAGE_BYTES;
      void this.messages?.close();
    }
  }

  /** Returns the number of messages that one pull can ask for because of their size. */
  private limit(): number {
    const bytes = PULLED_BYTES / (suppliesOf.get(this.bus) ?? 1);
    return Math.max(1, Math.floor(bytes / this.expectedBytes));
  }

  private receive(message: JsMsg, createdAt: number): void {
    if (message.info.timestampNanos < createdAt * 1_000_000) markOlder(message);
    this.largestBytes = Math.max(this.largestBytes, message.data.length);
    this.waiting.push(message);
    // Workers need this signal only if there were no messages; `linger` checks the number of messages itself.
    if (this.waiting.length === 1) this.changes.emit('change');
  }

  /** Returns the number of further messages that can be pulled. */
  private room(): number {
    if (this.isStuck()) return 0;
    let held = this.waiting.length + this.late.size;
    for (const batch of this.underWay.keys()) held += batch.length;
    return this.durable.batchSize * (this.batchesAtOnce + 1) - held;
  }

  /** Returns true if every worker hangs in a batch. */
  private isStuck(): boolean {
    const hanging = [...this.underWay.values()].filter((since) => this.hangs(since));
    return hanging.length === this.batchesAtOnce;
  }

  private hangs(since: number): boolean {
    return performance.now() - since > this.handleWithinMs;
  }

  private beat(): void {
    for (const [batch, since] of this.underWay) {
      if (!this.hangs(since)) for (const message of batch) message.working();
      else if (!this.reported.has(batch)) {
        this.reported.add(batch);
        this.log.error({ messages: batch.length }, 'a batch hangs; other replicas can take its messages');
      }
    }
    this.beatLate();
    if (this.isStuck()) {
      // The open pull is closed first, because it would receive the returned messages again.
      void this.messages?.close();
      this.giveBack();
    } else for (const message of this.waiting) message.working();
  }

  private beatLate(): void {
    let hanging = 0;
    for (const [message, since] of this.late) {
      if (!this.hangs(since)) message.working();
      else if (!this.reported.has(message)) {
        this.reported.add(message);
        hanging += 1;
      }
    }
    if (hanging > 0)
      this.log.error({ messages: hanging }, 'messages get no outcome; they are delivered again');
  }

  private giveBack(): void {
    for (const message of this.waiting.splice(0)) message.nak();
  }

  private async linger(): Promise<void> {
    const { lingerMs = 0, everyMs = 0 } = this.durable;
    const end = Math.max(performance.now() + lingerMs, this.takenAt + everyMs);
    while (!this.closing && this.waiting.length < this.durable.batchSize && performance.now() < end)
      await wait(Math.min(LINGER_LOOK_MS, end - performance.now()));
  }
}
