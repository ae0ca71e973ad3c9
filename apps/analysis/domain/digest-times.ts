import { DateTime } from 'luxon';
import type { DigestMode } from '#contracts';

/** The local hour of digests that come once a day or a week. */
const HOUR = 9;
const MONDAY = 1;

/**
 * When the next digest of a mode is due: hourly at the full hour, daily at 09:00, weekly on Monday at 09:00, by the wall
 * clock of the account. A day of 23 hours has 23 hourly digests, and one of 25 hours has 25.
 * @param timeZone IANA
 * @param after ms
 * @returns ms, later than `after`
 */
export function nextDue(mode: DigestMode, timeZone: string, after: number): number {
  const key = `${mode} ${timeZone} ${after}`;
  const known = KNOWN.get(key);
  if (known !== undefined) return known;
  const due = computeDue(mode, timeZone, after);
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(key, due);
  return due;
}

/** Thousands of keywords have the same zone, and are due at the same time. */
const KNOWN = new Map<string, number>();
const MAX_KNOWN = 2_000;

function computeDue(mode: DigestMode, timeZone: string, after: number): number {
  const local = DateTime.fromMillis(after, { zone: timeZone });
  if (mode === 'hourly') return nextFullHour(local).toMillis();
  const days = mode === 'weekly_report' ? 7 : 1;
  const start = days === 7 ? local.minus({ days: (local.weekday - MONDAY + 7) % 7 }) : local;
  for (let ahead = 0; ; ahead += days) {
    const due = start.plus({ days: ahead }).set({ hour: HOUR, minute: 0, second: 0, millisecond: 0 });
    if (due.toMillis() > after) return due.toMillis();
  }
}

/** The last time at or before an instant at which a digest of the mode was due. */
export function lastDue(mode: DigestMode, timeZone: string, at: number): number {
  // `MAX_PERIOD_MS` is a little more than the longest time between two digests.
  let due = nextDue(mode, timeZone, at - MAX_PERIOD_MS[mode]);
  for (let next = due; next <= at; next = nextDue(mode, timeZone, next)) due = next;
  return due;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_PERIOD_MS: Readonly<Record<DigestMode, number>> = {
  hourly: 3 * HOUR_MS,
  daily: 3 * DAY_MS,
  daily_brief: 3 * DAY_MS,
  weekly_report: 9 * DAY_MS,
};

/** In a zone whose clock changes by half an hour, one hour after a full hour can be half past. */
function nextFullHour(local: DateTime): DateTime {
  let next = local.startOf('hour').plus({ hours: 1 });
  while (next.minute !== 0) next = next.plus({ minutes: 60 - next.minute });
  return next;
}
