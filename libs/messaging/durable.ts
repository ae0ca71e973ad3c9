import type { JsMsg } from '@nats-io/jetstream';
import type { Outcome } from './outcome.js';
import type { StreamName } from './streams.js';

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
  /**
   * How long one call of `handle` may take before its messages are given to another replica, in ms: it hangs then.
   * 5 minutes where not said.
   */
  handleWithinMs?: number;
  /** True: what follows a message depends on it, so that it is never set aside, only tried again and told. */
  inOrder?: boolean;
  /**
   * Of tables that follow the stream: the last sequence that they hold, 0 for none. They are rebuilt at the start where
   * they lack what was acknowledged.
   */
  appliedUpTo?(): Promise<number>;
  /** One outcome for each message, in order. What it throws is an outage: the batch is tried again. */
  handle(batch: readonly JsMsg[]): Promise<Outcome[]>;
}
