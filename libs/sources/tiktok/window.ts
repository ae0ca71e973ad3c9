import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext } from '../source.js';

const DAY_MS = 86_400_000;
// Videos reach the index for researchers days after their publication.
const INDEX_LAG_MS = 3 * DAY_MS;
// The maximum distance of the two dates.
const REACH_MS = 30 * DAY_MS;
const WHOLE_EVERY_MS = 6 * 3_600_000;

/** The days of a search, in UTC: `YYYYMMDD`. */
export interface Days {
  startDate: string;
  endDate: string;
  /** True if the time since the last look is longer than the days that can be requested. */
  missed: boolean;
}

/** The days since the last look and some before it; at a first poll the last few. */
export function daysOf({ since, now }: Pick<FetchContext, 'since' | 'now'>): Days {
  const earliestMs = now.getTime() - REACH_MS;
  const wantedMs = (since ?? now).getTime() - INDEX_LAG_MS;
  return {
    startDate: dateOf(Math.max(wantedMs, earliestMs)),
    endDate: dateOf(now.getTime()),
    missed: since !== undefined && since.getTime() < earliestMs,
  };
}

/**
 * True if all days must be read again, and not only up to the first known video, because late videos are among known
 * ones. Stores the time in the history, so that a watch with a long interval does not restart the period.
 */
export function isTimeForAll({ since, now, state }: Pick<FetchContext, 'since' | 'now' | 'state'>): boolean {
  const history = recordOf(state['history']);
  const last = Date.parse(textOf(history?.['allReadAt']) ?? '');
  // A new search has not read anything that could have come late.
  const isTime = since !== undefined && now.getTime() - last >= WHOLE_EVERY_MS;
  if (isTime || Number.isNaN(last)) state['history'] = { ...history, allReadAt: now.toISOString() };
  return isTime;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}
