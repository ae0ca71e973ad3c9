import { within } from '#kernel';
import type { Logger } from '#telemetry';

/** Something at work that can be stopped. */
export interface Stoppable {
  name: string;
  /** Takes on nothing new, finishes what is under way, and returns. */
  stop(): Promise<void>;
}

/**
 * Stops all parts at the same time, so that one that hangs leaves the others their time.
 * @param ms how long that may take
 * @returns the names of the parts that had not ended by then, or that failed
 */
export async function stopWithin(ms: number, parts: readonly Stoppable[], log: Logger): Promise<string[]> {
  const ended = await Promise.all(
    parts.map((part) =>
      within(ms, part.stop()).catch((error: unknown) =>
        log.error({ err: error }, `${part.name} could not be stopped`),
      ),
    ),
  );
  return parts.filter((_, index) => !ended[index]).map(({ name }) => name);
}
