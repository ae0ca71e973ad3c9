import type { Durable } from './durable-runner.js';
import { done, retry } from './outcome.js';

/** Work that was under way when the purge began has long been written by then. */
const SECOND_PASS_AFTER_MS = 20_000;

/**
 * The durable with which a service deletes what it holds of a purged keyword. `erase` runs at once and again when
 * the purge is 20 s old: a check or an event that was under way during the first pass is caught by the second.
 * @param erase gets a `Purge` message; running it again must be harmless
 */
export function purgeDurable(service: string, erase: (data: Uint8Array) => Promise<void>): Durable {
  return {
    stream: 'PURGES',
    name: `${service}-purge`,
    batchSize: 1,
    async handle(batch) {
      for (const message of batch) await erase(message.data);
      // By age, not by count of deliveries: a first pass that failed must not pass for the second.
      return batch.map((message) => {
        const left = message.time.getTime() + SECOND_PASS_AFTER_MS - Date.now();
        return left > 0 ? retry(left) : done;
      });
    },
  };
}
