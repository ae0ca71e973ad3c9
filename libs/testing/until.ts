import { setTimeout as wait } from 'node:timers/promises';

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;

/**
 * Waits until `ask` returns a value that is neither undefined nor false. The pauses between the calls become longer if
 * a call takes long, and after a long wait. Otherwise the calls would take processor time from the work that the caller
 * waits for.
 * @param ask an error that it throws counts as undefined
 * @throws Error with the description, and the last error of `ask`, if that does not happen in time
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 15_000,
): Promise<T> {
  const began = performance.now();
  let last: unknown;
  for (let asked = began; asked < began + withinMs; asked = performance.now()) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch((error: unknown) => {
        last = error;
        return undefined;
      });
    if (answer !== undefined && answer !== false) return answer;
    const now = performance.now();
    const pause = Math.max(MIN_PAUSE_MS, now - asked, (now - began) / 20);
    await wait(Math.min(pause, MAX_PAUSE_MS));
  }
  throw new Error(`not within ${withinMs} ms: ${what}${last instanceof Error ? ` (${last.message})` : ''}`);
}
