import type { OrderedConsumerOptions } from '@nats-io/jetstream';
import PQueue from 'p-queue';
import { Outage } from '#kernel';
import type { Bus, StreamName } from '#messaging';

/** Time limit of one fetch of messages, in ms. */
const FETCH_MS = 5000;
/**
 * A fetch that takes longer has lost its connection. Without this limit, the client would wait for the fetch without
 * end.
 */
const FETCH_ENDS_MS = FETCH_MS + 1000;
/**
 * The first number is the maximum number of messages in one fetch. The second is the maximum number of fetches that one
 * connection makes at the same time. The server closes a connection with more than 64 MiB of unsent data, and a message
 * has at most 1 MiB. See also `PULLED_BYTES` of messaging.
 */
const FETCHED_TOGETHER = 8;
const FETCHES_AT_ONCE = 2;
const turnsOf = new WeakMap<Bus, PQueue>();
/** After this number of consecutive fetches without a message, the remaining messages count as unreadable. */
const EMPTY_FETCHES = 3;
/** In ms. If the consumer could not be deleted, the server deletes it after this time without a fetch. */
const FORGET_CONSUMER_MS = 30_000;

/** A stored message of one subject. */
export interface Stored {
  seq: number;
  data: Uint8Array;
  subject: string;
}

/** The messages of one subject from a start to the sequence `last`. */
export interface Asked {
  stream: StreamName;
  subject: string;
  start: Partial<Pick<OrderedConsumerOptions, 'deliver_policy' | 'opt_start_seq' | 'opt_start_time'>>;
  last: number;
}

/**
 * Fetches messages and calls `take` for each, oldest first. The messages can include some that were stored during the
 * fetch. In a cluster, a server that lacks the last messages can answer.
 * @returns the sequence of the last fetched message; 0 if there is none
 * @throws Outage if the connection is lost, or the server stops delivering messages before the last one
 */
export async function fetchSubject(
  bus: Bus,
  { stream, subject, start, last }: Asked,
  take: (message: Stored) => void,
): Promise<number> {
  const turns = turnsOf.get(bus) ?? new PQueue({ concurrency: FETCHES_AT_ONCE });
  turnsOf.set(bus, turns);
  const consumer = await bus.js.consumers.get(stream, {
    ...start,
    filter_subjects: subject,
    inactive_threshold: FORGET_CONSUMER_MS,
  });
  let lastSeq = 0;
  /** The number of messages after the last fetched one; undefined if the last fetch got none. */
  let pending: number | undefined;
  /** @returns whether messages are left */
  const fetchSome = async () => {
    const left = pending ?? (await consumer.info()).num_pending;
    if (left === 0) return false;
    pending = undefined;
    const options = { max_messages: Math.min(left, FETCHED_TOGETHER), expires: FETCH_MS };
    const messages = await consumer.fetch(options);
    const late = setTimeout(() => messages.stop(incomplete(subject)), FETCH_ENDS_MS);
    try {
      for await (const { seq, data, subject: its, info } of messages) {
        take({ seq, data, subject: its });
        lastSeq = seq;
        pending = info.pending;
      }
    } finally {
      clearTimeout(late);
    }
    return true;
  };
  try {
    // A fetch can end before it has found all its messages: because the server has not searched the whole stream yet,
    // or because a purge has deleted some of them. So the server is asked again how many messages are left.
    for (let empty = 0; lastSeq < last;) {
      const before = lastSeq;
      if (!(await turns.add(fetchSome))) break;
      empty = lastSeq === before ? empty + 1 : 0;
      if (empty === EMPTY_FETCHES) throw incomplete(subject);
    }
    return lastSeq;
  } finally {
    await consumer.delete().catch(() => undefined);
  }
}

/** Returns the error for a subject whose messages could not all be read. */
export function incomplete(subject: string): Outage {
  return new Outage('NATS', `${subject} could not be read completely`);
}
