import { DateTime } from 'luxon';
import { isoOf } from '#kernel';

/**
 * A month of an account, which begins on the account's own day of the month. `end` is the first instant after the
 * period. ISO 8601.
 */
export interface Period {
  start: string;
  end: string;
}

/**
 * The period that begins `months` after the opening: on the opening's day of the month in UTC, or on the last day of a
 * shorter month. Each period is counted from the opening: 31 January, 28 February, 31 March.
 */
export function periodFrom(openedAt: string, months: number): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  return {
    start: isoOf(opened.plus({ months }).toMillis()),
    end: isoOf(opened.plus({ months: months + 1 }).toMillis()),
  };
}

/** The period that contains the instant, which must not be before the opening. */
export function currentPeriod(openedAt: string, now: string): Period {
  const opened = DateTime.fromISO(openedAt, { zone: 'utc' });
  const present = DateTime.fromISO(now, { zone: 'utc' });
  // One period begins in each calendar month: the present period began in this month or in the previous month.
  const months = (present.year - opened.year) * 12 + present.month - opened.month;
  const latest = periodFrom(openedAt, months);
  return latest.start <= now ? latest : periodFrom(openedAt, months - 1);
}
