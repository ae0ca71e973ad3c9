import {
  JetStreamApiCodes,
  JetStreamApiError,
  type ConsumerInfo,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { defer, lastValueFrom, retry, throwError, timer } from 'rxjs';
import { isOutage } from '#outages';
import type { StreamName } from './streams.js';

const RETRIES = 10;
const PAUSE_MS = 1000;

/**
 * Repeats a request that JetStream did not answer, up to ten times. A cluster answers no requests while it elects a
 * leader, and creates many streams and consumers slowly.
 * @param ask makes the request; repeating it must be harmless
 * @throws the error of the last request; an error that is not an outage is thrown immediately
 */
export function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const delay = (error: unknown) => (isOutage(error) ? timer(PAUSE_MS) : throwError(() => error));
  return lastValueFrom(defer(ask).pipe(retry({ count: RETRIES, delay })));
}

/** Returns the state of a consumer; undefined only if it does not exist. */
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
