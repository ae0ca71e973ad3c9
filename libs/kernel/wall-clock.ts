import { DateTime, IANAZone } from 'luxon';

/**
 * Returns the instant of an ISO 8601 date-time. A time without an offset is local time in the zone. A local time that
 * is skipped when clocks go forward is moved by the length of the gap. For a local time that occurs twice when clocks
 * go back, the function returns the second instant.
 * @param timeZone IANA
 * @returns milliseconds since 1970; NaN if the text is not a date-time
 */
export function instantIn(text: string, timeZone: string): number {
  if (hasOffset(text)) return Date.parse(text);
  const local = DateTime.fromISO(text.replace(' ', 'T'), { zone: timeZone });
  // `local` alone would be the first or the second instant, depending on the offset of the zone today.
  return Math.max(...local.getPossibleOffsets().map((one) => one.toMillis()));
}

/** Returns whether the text is the name of an IANA time zone. */
export function isTimeZone(text: string): boolean {
  // Newer engines also accept offsets as time zones.
  return /^[A-Za-z]/.test(text) && IANAZone.isValidZone(text);
}

/** Returns whether an ISO 8601 date-time contains an offset. Such a date-time is an instant; it needs no time zone. */
export function hasOffset(text: string): boolean {
  return /(Z|T.*[+-]\d{2}:?\d{2}| .*[+-]\d{2}:?\d{2})$/.test(text);
}

/**
 * Returns a function that returns the start of the next day after an instant, in the time zone in which a server counts
 * its days.
 * @param timeZone IANA
 */
export function nextMidnightIn(timeZone: string): (now: Date) => Date {
  return (now) => DateTime.fromJSDate(now, { zone: timeZone }).plus({ days: 1 }).startOf('day').toJSDate();
}
