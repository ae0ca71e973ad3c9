/**
 * Waits for work, but not longer than `ms`.
 * @returns whether the work finished in time; a later error is ignored
 * @throws the error of the work, if the work fails in time
 */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns whether work settled within `ms`, successfully or not. Never throws; a later error is ignored. */
export function settledWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return within(
    ms,
    work.catch(() => undefined),
  );
}
