import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext } from '../source.js';

const DAY_MS = 86_400_000;
// Some videos enter the index for researchers days after their publication.
const INDEX_LAG_MS = 3 * DAY_MS;
// The maximum time between `startDate` and `endDate`.
const REACH_MS = 30 * DAY_MS;
const WHOLE_EVERY_MS = 6 * 3_600_000;

/** The days of a search, in UTC: `YYYYMMDD`. */
export interface Days {
  startDate: string;
  endDate: string;
  /** True if the last read was so long ago that one request cannot cover the time since then. */
  missed: boolean;
}

/** Returns the days since the last read, and some days before that read; at a first poll the last few days. */
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
 * Returns true if all pages of the days must be read, and not only up to the first known video. This is necessary every
 * six hours, because videos that were indexed late are on pages with known videos. Stores the time in the history, so
 * that all watches of the search share the period.
 */
export function isTimeForAll({ since, now, state }: Pick<FetchContext, 'since' | 'now' | 'state'>): boolean {
  const history = recordOf(state['history']);
  const last = Date.parse(textOf(history?.['allReadAt']) ?? '');
  // At a first poll there are no late videos, because nothing has been read before.
  const isTime = since !== undefined && now.getTime() - last >= WHOLE_EVERY_MS;
  if (isTime || Number.isNaN(last)) state['history'] = { ...history, allReadAt: now.toISOString() };
  return isTime;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}
