/**
 * The instant of an ISO 8601 date-time; a time without an offset is local time in the zone. When clocks are put
 * forward, a skipped local time means the time equally far after the jump.
 * @param timeZone IANA
 */
export function instantIn(text: string, timeZone: string): number {
  if (hasOffset(text)) return Date.parse(text);
  const wall = Date.parse(text.includes(':') ? `${text.replace(' ', 'T')}Z` : text);
  const guess = wall - offsetAt(wall, timeZone);
  // The guess may lie on the other side of a change of the clocks.
  return wall - offsetAt(guess, timeZone);
}

/** Whether the text is the name of an IANA time zone. */
export function isTimeZone(text: string): boolean {
  // Newer engines take offsets for zones, too.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Whether an ISO 8601 date-time says its offset, and so is an instant by itself. */
export function hasOffset(text: string): boolean {
  return /(Z|T.*[+-]\d{2}:?\d{2}| .*[+-]\d{2}:?\d{2})$/.test(text);
}

/** By how many milliseconds the zone's clocks are ahead of UTC at that instant. */
function offsetAt(instant: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = format.formatToParts(instant);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - Math.floor(instant / 1000) * 1000;
}
