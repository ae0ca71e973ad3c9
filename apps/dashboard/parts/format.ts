const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const monthDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const hourly = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
/** For a single unit, because the short form of “next month” is “next mo”. */
const relativeOne = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/**
 * Returns for example “5 min. ago”, “in 2 hr.” or “next month”.
 * @param near the text for less than a minute, before or after
 */
export function relativeTime(at: string, now: number, near = 'just now'): string {
  const seconds = (Date.parse(at) - now) / 1000;
  // 59.6 minutes are shown as 1 hour, not as 60 minutes.
  const isLong = (length: number, n: number) => Math.abs(seconds) >= length - (UNITS[n + 1]?.[1] ?? 0) / 2;
  const [unit, size] = UNITS.find(([, length], n) => isLong(length, n)) ?? ['second', 1];
  if (unit === 'second') return near;
  const number = Math.round(seconds / size);
  return (Math.abs(number) === 1 ? relativeOne : relative).format(number, unit);
}

/** Returns for example “Sunday, 22 November 2026 at 19:28:05 CET”, in the viewer's zone. */
export const exactTime = (at: string) => exact.format(new Date(at));

/** Returns for example “22 Nov 2026, 19:28”, in the viewer's zone. */
export const minuteOf = (at: string) => minute.format(new Date(at));

/** Returns for example “09:00” or “9:00 AM”: the full hour of a day in the viewer's format. */
export const hourOfDay = (hour: number) => hourly.format(Date.UTC(2026, 0, 1, hour));

/**
 * Returns for example “22 Nov 2026”. A date without a time, such as `2026-11-22`, is a day of UTC and stays that day.
 */
export const dayOf = (at: string) => day.format(new Date(at.length === 10 ? `${at}T12:00:00` : at));

/** Returns for example “22 Nov”, for the axis of a chart. The day is a day of UTC, such as `2026-11-22`. */
export const shortDay = (date: string) => monthDay.format(new Date(`${date}T12:00:00`));

/** Returns for example “12,345”. */
export const count = (n: number) => whole.format(n);

/** Returns for example “12.3K”. */
export const short = (n: number) => (Math.abs(n) < 10_000 ? whole.format(n) : compact.format(n));

/** Returns “43%” for the share 0.43. */
export const percent = (n: number) => share.format(n);

/** Returns for example “1 credit” or “43,200 credits”. */
export const credits = (n: number) => plural(n, 'credit');

/** Returns for example “1 mention” or “3 mentions”. */
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/**
 * Returns for example “90 s”, “5 min”, “2 h” or “1 d” for a number of seconds. The space is a no-break space, so that
 * the unit stays in the line of its number.
 */
export function duration(seconds: number): string {
  for (const [size, unit] of [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const)
    if (seconds >= size && seconds % size === 0) return `${count(seconds / size)}\u00a0${unit}`;
  return `${count(seconds)}\u00a0s`;
}

/**
 * Returns for example “€15.50”. A platform can state any text as the currency. A text that is not three letters is
 * shown after the number.
 */
export function money(value: number, currency: string): string {
  const isCurrency = /^[A-Za-z]{3}$/.test(currency);
  if (!isCurrency) return `${value} ${currency}`.trim();
  return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value);
}

/**
 * Puts the text between direction marks (FSI and PDI), so that its direction does not affect the surrounding text. Use
 * it where no HTML element is possible.
 */
export const isolated = (text: string) => `\u2068${text}\u2069`;

/** Returns true if a text has no visible characters, only spaces and characters without width. */
export const isInvisible = (text: string) => /^[\s\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);

/** Returns a key as words: “Buy intent” for `buy_intent`. */
export function words(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Returns the beginning of a text: at most `max` UTF-16 code units, and never a part of a character, such as half an
 * emoji. Only a character that is longer than `max` is cut.
 */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text;
  // Only the character at the end is examined, because a loop over all characters takes long.
  const end = characters.segment(text.slice(0, max * 2)).containing(max)?.index;
  return text.slice(0, end || max);
}
