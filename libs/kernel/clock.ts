/** The clock from which a service reads the time. Tests pass their own. */
export interface Clock {
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/** ISO 8601 UTC with milliseconds and `Z`. Earshot writes all times in this format. */
export function isoOf(at: Date | number): string {
  return new Date(at).toISOString();
}
