import type { JsMsg } from '@nats-io/jetstream';
import type { Outcome } from './outcome.js';
import type { StreamName } from './streams.js';

/** One durable consumer: which stream it reads, and how. */
export interface ConsumerOptions {
  stream: StreamName;
  /** The consumer's name on the server: replicas with one name share its messages. */
  name: string;
  /** Messages that one call of the handler gets at most. */
  batchSize: number;
  /** Batches under way at once, default 1: with more, messages of one subject can overtake each other. */
  batchesAtOnce?: number;
  /** How long a batch that is not full waits for more messages, in ms, default 0: fewer, larger writes. */
  lingerMs?: number;
  /**
   * How long a message may take before the server gives it to another replica, in ms, default 10 s; extended while the
   * handler works on it.
   */
  ackWaitMs?: number;
  /**
   * How long one call of the handler may take, in ms, default 5 minutes. Then it counts as hanging, and its messages go to
   * another replica.
   */
  handleWithinMs?: number;
  /** True: later messages depend on earlier ones. A message that fails is retried and logged, and never parked. */
  inOrder?: boolean;
}

/**
 * Handles one batch. Returns one outcome for each message, in order. What it throws makes the batch come again. What it sends
 * on for one message belongs to that message's trace: `causeOf` of telemetry.
 */
export type BatchHandler = (batch: readonly JsMsg[]) => Promise<Outcome[]>;

/** A durable consumer with its functions. */
export interface Durable extends ConsumerOptions {
  /**
   * For tables that follow the stream: the last sequence that they hold, 0 for none. They are rebuilt at the start where
   * they lack what was acknowledged.
   */
  appliedUpTo?(): Promise<number>;
  handle: BatchHandler;
}
