/** The clock from which a service reads the time. Tests pass their own clock. */
export interface Clock {
  now(): Date;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/** Returns the time in ISO 8601, in UTC with milliseconds and `Z`. @param at a number is milliseconds since 1970 */
export function isoOf(at: Date | number): string {
  return new Date(at).toISOString();
}
