import { DateTime, IANAZone } from 'luxon';

/**
 * The instant of an ISO 8601 date-time; a time without an offset is local time in the zone. When clocks are put
 * forward, a skipped local time means the time equally far after the jump.
 * @param timeZone IANA
 * @returns milliseconds since 1970; NaN for a text that is no date-time
 */
export function instantIn(text: string, timeZone: string): number {
  if (hasOffset(text)) return Date.parse(text);
  return DateTime.fromISO(text.replace(' ', 'T'), { zone: timeZone }).toMillis();
}

/** Whether the text is the name of an IANA time zone. */
export function isTimeZone(text: string): boolean {
  // Newer engines accept offsets as zones, too.
  return /^[A-Za-z]/.test(text) && IANAZone.isValidZone(text);
}

/** Whether an ISO 8601 date-time names its offset, and so is an instant by itself. */
export function hasOffset(text: string): boolean {
  return /(Z|T.*[+-]\d{2}:?\d{2}| .*[+-]\d{2}:?\d{2})$/.test(text);
}

/**
 * The first midnight after an instant, where a server counts its days.
 * @param timeZone IANA
 */
export function nextMidnightIn(timeZone: string): (now: Date) => Date {
  return (now) => DateTime.fromJSDate(now, { zone: timeZone }).plus({ days: 1 }).startOf('day').toJSDate();
}
