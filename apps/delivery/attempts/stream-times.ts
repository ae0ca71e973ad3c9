import { LRUCache } from 'lru-cache';

/** Where and when a message was stored. */
export interface Stored {
  /** The sequence of the message in its stream. */
  seq: number;
  /** When the stream stored the message, in ms. */
  storedAt: number;
}

/**
 * Maximum number of destinations in memory. If there are more, the least recently used ones are removed. After that,
 * messages of a destination that were stored in the same millisecond can change places.
 */
const MAX_REMEMBERED = 20_000;

/**
 * Gives each message of a destination a time that keeps the order of the stream. The time is when the stream stored the
 * message, so that all replicas agree. `pending_deliveries` stores whole milliseconds. Therefore a message that was
 * stored in the same millisecond as the previous message of this replica gets the next millisecond. Messages of the same
 * millisecond that different replicas get can still change places.
 */
export class StreamTimes {
  private readonly last = new LRUCache<string, { seq: number; time: number }>({ max: MAX_REMEMBERED });

  /** Returns the time of the message for this destination, in ms. */
  of(destination: string, { seq, storedAt }: Stored): number {
    const last = this.last.get(destination);
    if (last?.seq === seq) return last.time;
    // The message is delivered again, or a later batch was faster. The message belongs before the later messages.
    if (last && last.seq > seq) return storedAt;
    const time = Math.max(storedAt, last ? last.time + 1 : 0);
    this.last.set(destination, { seq, time });
    return time;
  }
}
