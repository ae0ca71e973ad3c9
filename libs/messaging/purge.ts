import type { JsMsg } from '@nats-io/jetstream';
import type { ConsumerOptions } from './durable.js';
import { done, retry, type Outcome } from './outcome.js';

/**
 * Age of a purge when `erase` runs again, in ms. Work that was running at the time of the purge can write after the
 * first run. The second run deletes what this work has written.
 */
const SECOND_PASS_AFTER_MS = 20_000;
/** Maximum time of one run: deleting a keyword with years of checks and events takes long. */
const ERASE_WITHIN_MS = 1_800_000;

/** Returns the consumer with which a service deletes its data of purged keywords. Its handler is `eraseTwice`. */
export function purgeConsumer(service: string): ConsumerOptions {
  return { stream: 'PURGES', name: `${service}-purge`, batchSize: 1, handleWithinMs: ERASE_WITHIN_MS };
}

/**
 * Runs `erase` for each purge when it arrives, and again when the purge is 20 s old. The second run deletes what
 * work that was still running has written after the first run. If the first run begins when the purge is at least 20 s
 * old, there is no second run.
 * @param erase gets the bytes of a `Purge` message; running it again must be harmless
 * @throws the error of `erase`
 */
export async function eraseTwice(
  batch: readonly Pick<JsMsg, 'data' | 'time'>[],
  erase: (purge: Uint8Array) => Promise<void>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const message of batch) {
    // The age of the purge at the start of a run decides whether the run is the second, and not the number of
    // deliveries. A first run that is repeated or takes long must not count as the second.
    const secondPassAt = message.time.getTime() + SECOND_PASS_AFTER_MS;
    const isSecond = Date.now() >= secondPassAt;
    await erase(message.data);
    outcomes.push(isSecond ? done : retry(Math.max(0, secondPassAt - Date.now())));
  }
  return outcomes;
}
