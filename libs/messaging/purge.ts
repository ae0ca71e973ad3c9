import type { JsMsg } from '@nats-io/jetstream';
import type { ConsumerOptions } from './durable.js';
import { done, retry, type Outcome } from './outcome.js';

/** Work that was under way when the purge began has long been written by then. */
const SECOND_PASS_AFTER_MS = 20_000;
/** A keyword with years of checks and events takes its time. */
const ERASE_WITHIN_MS = 1_800_000;

/** The consumer with which a service deletes what it holds of purged keywords. Its handler is `eraseTwice`. */
export function purgeConsumer(service: string): ConsumerOptions {
  return { stream: 'PURGES', name: `${service}-purge`, batchSize: 1, handleWithinMs: ERASE_WITHIN_MS };
}

/**
 * Runs `erase` for each purge at once, and again when the purge is 20 s old: the second pass deletes what checks and events
 * that were under way during the first pass have written since.
 * @param erase gets a `Purge` message; running it again must be harmless
 */
export async function eraseTwice(
  batch: readonly Pick<JsMsg, 'data' | 'time'>[],
  erase: (purge: Uint8Array) => Promise<void>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const message of batch) {
    // By its age when it begins, not by count of deliveries: a first pass that failed, or took long, is no second.
    const secondPassAt = message.time.getTime() + SECOND_PASS_AFTER_MS;
    const isSecond = Date.now() >= secondPassAt;
    await erase(message.data);
    outcomes.push(isSecond ? done : retry(Math.max(0, secondPassAt - Date.now())));
  }
  return outcomes;
}
