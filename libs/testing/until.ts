import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits until `ask` returns a value that is neither undefined nor false.
 * @throws Error with the description if that does not happen in time
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 15_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  let last: unknown;
  while (Date.now() < end) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch((error: unknown) => {
        last = error;
        return undefined;
      });
    if (answer !== undefined && answer !== false) return answer;
    await wait(50);
  }
  throw new Error(`not within ${withinMs} ms: ${what}${last instanceof Error ? ` (${last.message})` : ''}`);
}
