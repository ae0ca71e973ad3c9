/** Returns a time without seconds as a clock in the zone shows it. A time without a zone is already such a time. */
export function wallClock(value: string, timeZone: string): string {
  if (!/(Z|[+-]\d\d:?\d\d)$/i.test(value)) return value.slice(0, 16);
  try {
    // The Swedish form is ISO 8601 with a space.
    const options = { timeZone, dateStyle: 'short', timeStyle: 'short' } as const;
    return new Intl.DateTimeFormat('sv-SE', options).format(new Date(value)).replace(' ', 'T');
  } catch {
    return value.slice(0, 16);
  }
}
