import type { Schedule } from '#contracts';
import { instantIn } from '#kernel';

/** Whether the keyword may run at that instant (ms): from `startsAt` on, and before `endsAt`. */
export function isScheduled(schedule: Schedule | undefined, now: number): boolean {
  const { startsAt, endsAt } = instantsOf(schedule);
  return (startsAt === undefined || now >= startsAt) && (endsAt === undefined || now < endsAt);
}

/** When the schedule next begins or ends, in ms; undefined when it never does again. */
export function nextTurn(schedule: Schedule | undefined, now: number): number | undefined {
  const { startsAt, endsAt } = instantsOf(schedule);
  return [startsAt, endsAt].find((instant) => instant !== undefined && instant > now);
}

/** Times without an offset are local times in the schedule's zone. */
function instantsOf(schedule: Schedule | undefined): { startsAt?: number; endsAt?: number } {
  if (!schedule) return {};
  const { startsAt, endsAt, timezone } = schedule;
  return {
    ...(startsAt ? { startsAt: instantIn(startsAt, timezone) } : {}),
    ...(endsAt ? { endsAt: instantIn(endsAt, timezone) } : {}),
  };
}
