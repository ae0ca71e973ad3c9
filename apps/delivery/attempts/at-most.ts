/** A stop waits so long for attempts under way, in ms; what is cut off then stands in the table and is made again. */
export const STOP_PATIENCE_MS = 2000;

/** Settles when the work does, or when the time has passed. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
