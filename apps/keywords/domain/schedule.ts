import type { Schedule } from '#contracts';
import { instantIn, isStorableTime } from '#kernel';

/**
 * Returns whether the keyword is allowed to run at this instant (ms): not before `startsAt`, and only before `endsAt`.
 */
export function isScheduled(schedule: Schedule | undefined, now: number): boolean {
  const { startsAt, endsAt } = instantsOf(schedule);
  return (startsAt === undefined || now >= startsAt) && (endsAt === undefined || now < endsAt);
}

/**
 * Returns the next start or end of the schedule after `now`, in ms; undefined if neither is after `now`. A time after the
 * year 9999 of UTC is ignored, because tables cannot store it.
 */
export function nextScheduleChange(schedule: Schedule | undefined, now: number): number | undefined {
  const { startsAt, endsAt } = instantsOf(schedule);
  return [startsAt, endsAt].find(
    (instant) => instant !== undefined && instant > now && isStorableTime(instant),
  );
}

/** Returns the start and the end in ms. Times without an offset are local times in the schedule's zone. */
function instantsOf(schedule: Schedule | undefined): { startsAt?: number; endsAt?: number } {
  if (!schedule) return {};
  const { startsAt, endsAt, timezone } = schedule;
  return {
    ...(startsAt ? { startsAt: instantIn(startsAt, timezone) } : {}),
    ...(endsAt ? { endsAt: instantIn(endsAt, timezone) } : {}),
  };
}
