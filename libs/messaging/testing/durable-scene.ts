import { createLogger } from '#telemetry';
import { isolateStores, until, type IsolatedStores } from '#testing';
import { connectBus, type Bus } from '../bus.js';
import { runDurable } from '../durable-runner.js';
import type { Durable } from '../durable.js';
import type { Later, Outcome } from '../outcome.js';
import { subjectOf, type StreamName } from '../streams.js';

const log = createLogger('spec', 'silent');

/** One message of a batch. */
export interface Seen {
  text: string;
  deliveries: number;
}

/** A NATS server, and one durable consumer after another on it. */
export class DurableScene {
  bus!: Bus;
  private stores: IsolatedStores | undefined;
  private specs = 0;
  /** The stream of the consumer that `run` started last. */
  private stream: StreamName = 'CHECKS';

  async start(): Promise<void> {
    this.stores = await isolateStores();
    this.bus = await connectBus(this.stores.natsUrl, 'spec', log);
  }

  async stop(): Promise<void> {
    await this.bus?.close();
    await this.stores?.drop();
  }

  /** The subject of the messages that `send` publishes. */
  get subject(): string {
    return subjectOf(this.stream, 'spec', String(this.specs));
  }

  /** Empties a stream, then runs a durable consumer of it. Each call of `handle` is one batch. */
  readonly run = async (
    handle: (batch: Seen[]) => (Outcome | Later)[] | Promise<(Outcome | Later)[]>,
    batchSize = 10,
    more: Partial<Durable> = {},
  ) => {
    this.specs += 1;
    this.stream = more.stream ?? 'CHECKS';
    await this.bus.jsm.streams.purge(this.stream);
    const durable: Durable = {
      stream: 'CHECKS',
      name: `spec-${this.specs}`,
      batchSize,
      // The messages of a stopped consumer are delivered again after this time.
      ackWaitMs: 1000,
      handle: async (batch) =>
        handle(batch.map((message) => ({ text: message.string(), deliveries: message.info.deliveryCount }))),
      ...more,
    };
    return {
      name: durable.name,
      running: await runDurable(this.bus, durable, log),
      again: (other: Partial<Durable> = {}) => runDurable(this.bus, { ...durable, ...other }, log),
    };
  };

  readonly send = async (...texts: string[]): Promise<void> => {
    for (const text of texts) await this.bus.js.publish(this.subject, text);
  };

  /** Waits until every message is acknowledged. */
  readonly settled = (name: string) =>
    until('everything is settled', async () => {
      const info = await this.bus.jsm.consumers.info(this.stream, name);
      return info.num_pending + info.num_ack_pending === 0;
    });

  /** Returns the parked messages of a consumer. */
  readonly parked = async (name: string) => {
    const found = [];
    const consumer = await this.bus.js.consumers.get('PARKED', {
      filter_subjects: subjectOf('PARKED', this.stream, name),
    });
    const waiting = (await consumer.info()).num_pending;
    for (let n = 0; n < waiting; n += 1) {
      const message = await consumer.next();
      if (message)
        found.push({
          text: message.string(),
          reason: message.headers?.get('earshot-reason'),
          subject: message.headers?.get('earshot-subject'),
        });
    }
    return found;
  };
}
