import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AckPolicy,
  DeliverPolicy,
  type Consumer,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import type { Logger } from '#telemetry';
import type { Bus } from './bus.js';
import type { Durable } from './durable.js';

/** After a crash the messages it held come back when this has passed; while one is worked on it is extended. */
const DEFAULT_ACK_WAIT_MS = 10_000;
const DEFAULT_HANDLE_WITHIN_MS = 300_000;
const SOON_MS = 1000;
const LINGER_LOOK_MS = 50;
const PULL_EXPIRES_MS = 30_000;
/** While nothing comes the server says so this often; when it is silent twice the pull is begun anew. */
const IDLE_HEARTBEAT_MS = 5000;

/** Makes the consumer where it is missing. */
export async function openConsumer(bus: Bus, durable: Durable): Promise<Consumer> {
  await bus.jsm.consumers.add(durable.stream, {
    durable_name: durable.name,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: (durable.ackWaitMs ?? DEFAULT_ACK_WAIT_MS) * 1_000_000,
    max_ack_pending: Math.max(2000, durable.batchSize * 4),
    max_deliver: -1,
  });
  return bus.js.consumers.get(durable.stream, durable.name);
}

/**
 * What one replica holds of a durable's messages: the batches that are worked on and one more, so that pulling never
 * holds up the work and a slow replica keeps little from the others. All of it is kept from them while it goes on; a
 * batch that hangs is not, nor what waits behind it.
 */
export class MessageSupply {
  private readonly waiting: JsMsg[] = [];
  /** Batches that are worked on, and since when. */
  private readonly underWay = new Map<readonly JsMsg[], number>();
  /** Batches that were said to hang. */
  private readonly told = new WeakSet<readonly JsMsg[]>();
  /** Says that something has changed: a message came, a batch is settled, it is time to stop. */
  private readonly changes = new EventEmitter();
  private readonly batchesAtOnce: number;
  private readonly handleWithinMs: number;
  private readonly heartbeat: NodeJS.Timeout;
  private messages?: ConsumerMessages;
  private closing = false;

  constructor(
    private readonly bus: Bus,
    private readonly durable: Durable,
    private readonly log: Logger,
    private consumer: Consumer | undefined,
  ) {
    this.batchesAtOnce = durable.batchesAtOnce ?? 1;
    this.handleWithinMs = durable.handleWithinMs ?? DEFAULT_HANDLE_WITHIN_MS;
    this.heartbeat = setInterval(() => this.beat(), (durable.ackWaitMs ?? DEFAULT_ACK_WAIT_MS) / 3);
    void this.pull();
  }

  /** The next batch, when there is one; undefined when it is time to stop. */
  async take(): Promise<readonly JsMsg[] | undefined> {
    while (!this.closing) {
      if (this.waiting.length === 0) {
        await once(this.changes, 'change');
        continue;
      }
      await this.linger();
      // Another worker may have taken what was there, and a stop may have come.
      if (this.closing || this.waiting.length === 0) continue;
      const batch = this.waiting.splice(0, this.durable.batchSize);
      this.underWay.set(batch, Date.now());
      return batch;
    }
    return undefined;
  }

  /** The batch has come one step further: its time begins anew. */
  goesOn(batch: readonly JsMsg[]): void {
    this.underWay.set(batch, Date.now());
  }

  /** Nothing of the batch is held any more. */
  settled(batch: readonly JsMsg[]): void {
    this.underWay.delete(batch);
    this.changes.emit('change');
  }

  /** Pulls no more; `take` answers undefined from now on. */
  async close(): Promise<void> {
    this.closing = true;
    this.changes.emit('change');
    await this.messages?.close();
  }

  /** Gives back what was not begun. To be called when no batch is worked on any more. */
  end(): void {
    clearInterval(this.heartbeat);
    this.giveBack();
  }

  private async pull(): Promise<void> {
    while (!this.closing) {
      try {
        // A consumer that has gone although nobody stopped it (deleted on the server) is made again.
        this.consumer ??= await openConsumer(this.bus, this.durable);
        while (!this.closing && this.room() < this.durable.batchSize) await once(this.changes, 'change');
        if (this.closing) return;
        this.messages = await this.consumer.fetch({
          max_messages: this.room(),
          expires: PULL_EXPIRES_MS,
          idle_heartbeat: IDLE_HEARTBEAT_MS,
        });
        if (this.closing) void this.messages.close();
        for await (const message of this.messages) {
          this.waiting.push(message);
          this.changes.emit('change');
        }
      } catch (error) {
        if (this.closing) return;
        this.log.error({ err: error }, 'messages cannot be received; the consumer is opened again');
        this.consumer = undefined;
        await wait(SOON_MS);
      }
    }
  }

  /** How many more messages may be pulled. */
  private room(): number {
    if (this.isStuck()) return 0;
    let held = this.waiting.length;
    for (const batch of this.underWay.keys()) held += batch.length;
    return this.durable.batchSize * (this.batchesAtOnce + 1) - held;
  }

  /** True when all that could work on a batch hangs. */
  private isStuck(): boolean {
    const hanging = [...this.underWay.values()].filter((since) => this.hangs(since));
    return hanging.length === this.batchesAtOnce;
  }

  private hangs(since: number): boolean {
    return Date.now() - since > this.handleWithinMs;
  }

  private beat(): void {
    for (const [batch, since] of this.underWay) {
      if (!this.hangs(since)) for (const message of batch) message.working();
      else if (!this.told.has(batch)) {
        this.told.add(batch);
        this.log.error({ messages: batch.length }, 'a batch hangs; others may take its messages');
      }
    }
    if (this.isStuck()) {
      // Its open request would bring what is given back to the same place.
      void this.messages?.close();
      this.giveBack();
    } else for (const message of this.waiting) message.working();
  }

  private giveBack(): void {
    for (const message of this.waiting.splice(0)) message.nak();
  }

  private async linger(): Promise<void> {
    const end = Date.now() + (this.durable.lingerMs ?? 0);
    while (!this.closing && this.waiting.length < this.durable.batchSize && Date.now() < end)
      await wait(Math.min(LINGER_LOOK_MS, end - Date.now()));
  }
}
