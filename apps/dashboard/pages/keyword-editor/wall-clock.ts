/**
 * Returns the local time of a stored time in the zone, without seconds: `2026-01-31T09:00`. A stored time without a zone
 * is local already. If the zone or the time is not valid, returns the beginning of the stored time.
 */
export function wallClock(value: string, timeZone: string): string {
  if (!/(Z|[+-]\d\d:?\d\d)$/i.test(value)) return value.slice(0, 16);
  try {
    // The Swedish format is ISO 8601 with a space instead of the `T`.
    const options = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
    return new Intl.DateTimeFormat('sv-SE', options).format(new Date(value)).replace(' ', 'T');
  } catch {
    return value.slice(0, 16);
  }
}
