// Time zone names that RFC 822 allows or that feeds use anyway, in minutes from UTC.
const ZONES: Readonly<Record<string, number>> = {
  UT: 0,
  UTC: 0,
  GMT: 0,
  Z: 0,
  WET: 0,
  WEST: 60,
  BST: 60,
  CET: 60,
  MEZ: 60,
  CEST: 120,
  MESZ: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  IST: 330,
  JST: 540,
  KST: 540,
  AEST: 600,
  AEDT: 660,
  EST: -300,
  EDT: -240,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;
// Some software writes the first day of Unix time, in any time zone, instead of an unknown date.
const FIRST_KNOWN = '1970-01-02';

// 2026-03-04T12:00:00.5+01:00, 2026-03-04 12:00, 2026-03-04
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T\s]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?\s*(Z|[A-Z]{2,4}|[+-]\d\d:?\d\d)?)?$/i;
// Wed, 04 Mar 2026 12:00:00 +0100; the weekday, the time, the seconds and the zone can be missing.
const RFC_822 =
  /^(?:\p{L}+\.?,?\s+)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?,?[\s-]+(\d{4}|\d\d)(?:,?\s+(\d\d?):(\d\d)(?::(\d\d))?(?:\.\d+)?\s*([A-Z]{1,4}|[+-]\d\d:?\d\d)?)?(?:\s*\(.*\))?$/iu;
// March 4, 2026 12:00:00 +0100
const MONTH_FIRST =
  /^(?:\p{L}+\.?,?\s+)?([a-z]{3})[a-z]*\.?\s+(\d{1,2}),?\s+(\d{4})(?:,?\s+(\d\d?):(\d\d)(?::(\d\d))?\s*([A-Z]{1,4}|[+-]\d\d:?\d\d)?)?$/iu;

/**
 * Converts a date of a feed to ISO 8601 in UTC. A date without a time zone counts as UTC. Returns undefined if the date
 * cannot be read, does not state the day, is the 1st of January 1970 or earlier, or has a year later than 2100. With a
 * date of 1970, or with the first day of the month instead of a missing day, new articles would count as old.
 */
export function parseFeedDate(text: string): string | undefined {
  const date = readDate(text);
  return date !== undefined && date < FIRST_KNOWN ? undefined : date;
}

/**
 * Reads a date for the id of an article, like `parseFeedDate` with two differences. It also reads the 1st of January
 * 1970, so that existing ids do not change. A date that states only the month counts as the first day of this month, so
 * that ids differ by month.
 */
export function parseDateForId(text: string): string | undefined {
  return readDate(text.trim().replace(/^(\d{4}-\d\d)(?=$|[T\s])/i, '$1-01'));
}

function readDate(text: string): string | undefined {
  const date = text.replace(/\s+/g, ' ').trim();
  const iso = ISO.exec(date);
  if (iso) {
    const [, year, month, day, hour, minute, second, fraction, zone] = iso;
    return isoOf([year, Number(month) - 1, day, hour, minute, second], zone, fraction);
  }
  const rfc = RFC_822.exec(date);
  if (rfc) {
    const [, day, month = '', year, hour, minute, second, zone] = rfc;
    return isoOf([fullYear(year), monthOf(month), day, hour, minute, second], zone);
  }
  const american = MONTH_FIRST.exec(date);
  if (american) {
    const [, month = '', day, year, hour, minute, second, zone] = american;
    return isoOf([year, monthOf(month), day, hour, minute, second], zone);
  }
  return undefined;
}

type Field = string | number | undefined;

function isoOf(fields: readonly Field[], zone: string | undefined, fraction = '0'): string | undefined {
  const [year = NaN, month = NaN, day = NaN, hour = 0, minute = 0, second = 0] = fields.map((field) =>
    field === undefined ? undefined : Number(field),
  );
  const offset = offsetOf(zone);
  if (!(year >= FIRST_YEAR && year <= LAST_YEAR) || offset === undefined) return undefined;
  if (!(month >= 0 && month <= 11 && hour <= 24 && minute <= 59 && second <= 60)) return undefined;
  if (!(day >= 1 && day <= daysOf(year, month))) return undefined;
  const at = Date.UTC(year, month, day, hour, minute - offset, second, Number(fraction.padEnd(3, '0')));
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Returns the number of days of a month; January is 0. */
function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return 0;
  const numeric = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (!numeric) return ZONES[zone.toUpperCase()];
  const [, sign, hours, minutes] = numeric;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function monthOf(name: string): number | undefined {
  const month = MONTHS.indexOf(name.toLowerCase());
  return month === -1 ? undefined : month;
}

// RFC 822 used years with two digits.
function fullYear(year: string | undefined): number {
  const number = Number(year);
  if (year === undefined || year.length > 2) return number;
  return number < 70 ? 2000 + number : 1900 + number;
}
