import {
  JetStreamApiCodes,
  JetStreamApiError,
  type ConsumerInfo,
  type JetStreamManager,
  type MsgRequest,
  type StoredMsg,
} from '@nats-io/jetstream';
import { catchError, defer, lastValueFrom, retry, throwError, timer } from 'rxjs';
import { Outage } from '#kernel';
import { isOutage } from '#outages';
import type { StreamName } from './streams.js';

const RETRIES = 10;
const PAUSE_MS = 1000;

/**
 * Makes a request. If it fails because of an outage (see `isOutage`), repeats it up to ten times, with a pause of one
 * second before each. Such an outage has two usual causes: a cluster that elects a leader answers no requests, and the
 * answers of a cluster that must create many streams and consumers can come too late.
 * @param ask makes the request; repeating it must be harmless
 * @throws Outage after the last request, with its error as the cause. An error that is not an outage is thrown
 *   immediately and unchanged
 */
export function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const delay = (error: unknown) => (isOutage(error) ? timer(PAUSE_MS) : throwError(() => error));
  const failed = (error: unknown) => throwError(() => (isOutage(error) ? new Outage('NATS', error) : error));
  return lastValueFrom(defer(ask).pipe(retry({ count: RETRIES, delay }), catchError(failed)));
}

/** Returns the state of a consumer; undefined if it does not exist. @throws every other error of the request */
export async function consumerInfo(
  { jsm }: { jsm: JetStreamManager },
  stream: StreamName,
  name: string,
): Promise<ConsumerInfo | undefined> {
  try {
    return await jsm.consumers.info(stream, name);
  } catch (error) {
    const isAbsent = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound;
    if (isAbsent) return undefined;
    throw error;
  }
}

/**
 * Identifies one message: the message with this sequence, the last message of a subject, or the first message of a
 * subject from this sequence on.
 */
export type MessageQuery = { seq: number } | { last_by_subj: string } | { seq: number; next_by_subj: string };

/**
 * Reads one message of a stream. The leader of the stream answers. A direct get is a sixth faster, but this
 * function does not use it: in a cluster, any server can answer it, also one that lacks the last messages after a restart.
 * @param query a subject can contain wildcards
 * @returns null if the stream has no such message (any more)
 * @throws the error of NATS: after 2 s if nobody answers, for example while a cluster elects a leader
 */
export function getMessage(
  { reads }: { reads: JetStreamManager },
  stream: StreamName,
  query: MessageQuery,
): Promise<StoredMsg | null> {
  // The types of the client lack `next_by_subj`, which every server since 2.8 understands.
  return reads.streams.getMessage(stream, query as MsgRequest);
}
