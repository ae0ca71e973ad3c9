import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext } from '../source.js';

const DAY_MS = 86_400_000;
// Videos reach the index for researchers days after they were published.
const INDEX_LAG_MS = 3 * DAY_MS;
// The two dates may be 30 days apart.
const REACH_MS = 30 * DAY_MS;
const WHOLE_EVERY_MS = 6 * 3_600_000;

/** The days that a search asks for, in UTC: `YYYYMMDD`. */
export interface Days {
  startDate: string;
  endDate: string;
  /** True: what was published since the last look began before the days that can be asked for. */
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
 * True when it is time to read all of the days again, and not only up to the first video that is known: late ones
 * stand among those. Remembers when that was, in the history: a watch that reads seldom must not begin the hours anew.
 */
export function isTimeForAll({ since, now, state }: Pick<FetchContext, 'since' | 'now' | 'state'>): boolean {
  const history = recordOf(state['history']);
  const last = Date.parse(textOf(history?.['allReadAt']) ?? '');
  // A search that begins has read nothing that could have come late.
  const isTime = since !== undefined && now.getTime() - last >= WHOLE_EVERY_MS;
  if (isTime || Number.isNaN(last)) state['history'] = { ...history, allReadAt: now.toISOString() };
  return isTime;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}
