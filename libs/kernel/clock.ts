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

const FIRST_STORABLE = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_STORABLE = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Returns whether streams and tables can store the time, in ms: its year is 1 to 9999 in UTC. ISO 8601 writes other years
 * differently, and Postgres cannot read them. NaN is not storable.
 */
export function isStorableTime(at: number): boolean {
  return at >= FIRST_STORABLE && at <= LAST_STORABLE;
}
