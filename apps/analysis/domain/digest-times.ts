import { DateTime } from 'luxon';
import type { DigestMode } from '#contracts';

/** The local hour at which daily and weekly digests are due. */
const DIGEST_HOUR = 9;
const MONDAY = 1;

/**
 * Returns when the next digest of a mode is due: hourly at the full hour, daily at 09:00, weekly on Monday at 09:00, by
 * the wall clock of the account. A day of 23 hours has 23 hourly digests, and a day of 25 hours has 25.
 * @param timeZone IANA
 * @param after ms
 * @returns ms, later than `after`
 */
export function nextDue(mode: DigestMode, timeZone: string, after: number): number {
  const key = `${mode} ${timeZone} ${after}`;
  const cached = DUE_CACHE.get(key);
  if (cached !== undefined) return cached;
  const due = computeDue(mode, timeZone, after);
  if (DUE_CACHE.size >= MAX_CACHED) DUE_CACHE.clear();
  DUE_CACHE.set(key, due);
  return due;
}

/** Up to 2,000 results are kept, because thousands of keywords have the same time zone and are due at the same time. */
const DUE_CACHE = new Map<string, number>();
const MAX_CACHED = 2_000;

function computeDue(mode: DigestMode, timeZone: string, after: number): number {
  const local = DateTime.fromMillis(after, { zone: timeZone });
  if (mode === 'hourly') return nextFullHour(local).toMillis();
  const days = mode === 'weekly_report' ? 7 : 1;
  // Days are added to the hour of the digest, not to `local`. The clock of another day can skip the time of `local`.
  // Luxon then moves this time forward: from the last hour before midnight to the next day.
  const today = local.set({ hour: DIGEST_HOUR, minute: 0, second: 0, millisecond: 0 });
  const start = days === 7 ? today.minus({ days: (local.weekday - MONDAY + 7) % 7 }) : today;
  for (let ahead = 0; ; ahead += days) {
    const due = start.plus({ days: ahead }).toMillis();
    if (due > after) return due;
  }
}

/** Returns the latest due time of the mode that is not later than `at`, in ms. */
export function lastDue(mode: DigestMode, timeZone: string, at: number): number {
  // The loop begins further back than the longest time between two digests.
  let due = nextDue(mode, timeZone, at - LOOK_BACK_MS[mode]);
  for (let next = due; next <= at; next = nextDue(mode, timeZone, next)) due = next;
  return due;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LOOK_BACK_MS: Readonly<Record<DigestMode, number>> = {
  hourly: 3 * HOUR_MS,
  daily: 3 * DAY_MS,
  daily_brief: 3 * DAY_MS,
  weekly_report: 9 * DAY_MS,
};

/**
 * Returns the next full hour in local time. In a time zone whose clock changes by 30 minutes, one hour after 01:00 can
 * be 02:30, so adding one hour is not enough. The computation begins at `local`, not at the full hour before it,
 * because the clock can have changed between these two times.
 */
function nextFullHour(local: DateTime): DateTime {
  let next = local;
  do next = next.plus({ milliseconds: HOUR_MS - ((next.toMillis() + next.offset * MINUTE_MS) % HOUR_MS) });
  while (next.minute !== 0);
  return next;
}
