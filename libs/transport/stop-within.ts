import { within } from '#kernel';
import type { Logger } from '#telemetry';

/** Running work that can be stopped. */
export interface Stoppable {
  name: string;
  /** Accepts nothing new, finishes running work, and returns. */
  stop(): Promise<void>;
}

/**
 * Stops all parts at the same time, so that a part that hangs does not use up the time of other parts.
 * @param ms how long that can take; parts that need longer are not ended
 * @returns the names of the parts that did not end in time, or that failed
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
