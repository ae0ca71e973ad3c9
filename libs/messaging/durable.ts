import type { JsMsg } from '@nats-io/jetstream';
import type { Later, Outcome } from './outcome.js';
import type { StreamName } from './streams.js';

/** The options of one durable consumer. */
export interface ConsumerOptions {
  stream: StreamName;
  /** The consumer's name on the server. Replicas with the same name share its messages. */
  name: string;
  /** Only messages on these subjects, with wildcards. Default: the whole stream. The subjects cannot change later. */
  subjects?: string | undefined;
  /** Maximum number of messages in one call of the handler. */
  batchSize: number;
  /** Batches processed at the same time, default 1. With more, messages of one subject can overtake each other. */
  batchesAtOnce?: number;
  /**
   * How long a batch that is not full waits for more messages, in ms, default 0. A longer wait leads to fewer, larger
   * writes.
   */
  lingerMs?: number;
  /**
   * The minimum time between two batches, in ms, default 0; a full batch does not wait. A message that
   * arrives after a quiet time waits only for `lingerMs`. Many messages in a row are written in few batches.
   */
  everyMs?: number;
  /**
   * How long a message can take before the server gives it to another replica, in ms, default 10 s. A replica extends
   * this time while the message waits or is processed.
   */
  ackWaitMs?: number;
  /**
   * Maximum time of one call of the handler, and of a later outcome, in ms, default 5 minutes. After this time, the
   * call or the outcome counts as hanging. The replica then does not extend the ack wait of the messages any more, so
   * the server delivers them again.
   */
  handleWithinMs?: number;
  /**
   * True if later messages depend on earlier messages: a message for which the handler throws is retried and logged,
   * and not parked. Messages of a stream of decisions are treated like this by every consumer.
   */
  inOrder?: boolean;
}

/**
 * For consumers that write events to tables. The events of one check usually arrive within 200 ms and are written
 * together. In one second, a replica writes at most two batches that are not full, because each write creates a part
 * that ClickHouse has to merge.
 */
export const FEW_WRITES = { lingerMs: 200, everyMs: 500 } as const;

/**
 * Handles one batch. Returns one outcome for each message, in order. A message whose outcome comes later stays
 * unacknowledged, and does not delay the next batch. A message without an outcome is retried. If the handler throws for
 * several messages, it is called again for each of them separately. If the later outcome of one of several messages is
 * rejected, the handler is called again for this message. A message that fails alone is retried or parked. During a
 * stop, a message that fails is only retried. If the handler sends messages because of one message, they belong to the
 * trace of that message: see `causeOf` of telemetry.
 */
export type BatchHandler = (batch: readonly JsMsg[]) => Promise<(Outcome | Later)[]>;

/** A durable consumer with its functions. */
export interface Durable extends ConsumerOptions {
  /**
   * For tables that follow the stream: the last sequence that they contain, 0 for none. Tables that lack acknowledged
   * messages are rebuilt at the start.
   */
  appliedUpTo?(): Promise<number>;
  handle: BatchHandler;
}
