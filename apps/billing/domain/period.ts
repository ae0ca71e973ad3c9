import { DateTime } from 'luxon';
import { isoOf } from '#kernel';

/**
 * A month of an account. Each period begins on the day of the month on which the account was opened, or on the last day
 * of a shorter month. Both times are ISO 8601; `end` is the first instant after the period.
 */
export interface Period {
  start: string;
  end: string;
}

/**
 * Returns the period that begins `months` after the opening: on the opening's day of the month in UTC, or on the last
 * day of a shorter month. Each period is counted from the opening: 31 January, 28 February, 31 March.
 */
export function periodFrom(openedAt: string, months: number): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  return {
    start: isoOf(opened.plus({ months }).toMillis()),
    end: isoOf(opened.plus({ months: months + 1 }).toMillis()),
  };
}

/** Returns the period that contains `now`, which must not be before the opening. */
export function currentPeriod(openedAt: string, now: string): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  const current = DateTime.fromISO(now, { zone: 'utc' });
  // One period begins in each calendar month: the current period began in this month or in the previous month.
  const months = (current.year - opened.year) * 12 + current.month - opened.month;
  const latest = periodFrom(openedAt, months);
  return latest.start <= now ? latest : periodFrom(openedAt, months - 1);
}
