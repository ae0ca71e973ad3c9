/** Where a service reads the time. Tests hand in their own. */
export interface Clock {
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/** ISO 8601 UTC with milliseconds and `Z`: the only way Earshot writes a time. */
export function isoOf(at: Date | number): string {
  return new Date(at).toISOString();
}
