import { DateTime } from 'luxon';
import { isoOf } from '#kernel';

/** A month of an account, by its own day. Its end is the first instant that is no longer in it. ISO 8601. */
export interface Period {
  start: string;
  end: string;
}

/**
 * The period that begins `months` after the opening: on the day of the month of the opening, UTC, or on the month's
 * last where it is shorter. Counted from the opening each time: 31 January, 28 February, 31 March.
 */
export function periodFrom(openedAt: string, months: number): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  return {
    start: isoOf(opened.plus({ months }).toMillis()),
    end: isoOf(opened.plus({ months: months + 1 }).toMillis()),
  };
}

/** The period in which the instant lies, which is not before the opening. */
export function currentPeriod(openedAt: string, now: string): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  const present = DateTime.fromISO(now, { zone: 'utc' });
  // A period begins in each month of the calendar: the present one in this month, or in the one before.
  const months = (present.year - opened.year) * 12 + present.month - opened.month;
  const latest = periodFrom(openedAt, months);
  return latest.start <= now ? latest : periodFrom(openedAt, months - 1);
}
