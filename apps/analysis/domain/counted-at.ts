import type { Check, Event, Item } from '#contracts';

/**
 * An item without a date appeared at some time in the period of its check. If this period is longer than
 * `MAX_UNDATED_MS`, the time is too uncertain.
 */
const MAX_UNDATED_MS = 2 * 3_600_000;
/** Alerts do not count events that are older than this number of days, because no baseline uses them. */
export const COUNTED_DAYS = 90;
/**
 * Days for which the ids of counted mentions are kept. An event that is stored or delivered again within this time is not
 * counted twice.
 */
export const COUNTED_IDS_DAYS = 8;
const COUNTED_MS = COUNTED_DAYS * 24 * 3_600_000;

/**
 * Returns when an item appeared, for the counts of alerts. This is the time of its publication, but not later than the
 * end of its check, because the clocks of upstreams can be ahead. For an item without a date, it is the end of its
 * check, if the check fulfils three conditions: its window has a start, the window is at most two hours long, and no
 * gap was before it. Otherwise the time is not known.
 * @returns ISO 8601; empty if the time is not known
 */
export function countedAtOf(
  { windowFrom, windowTo, gap, finishedAt }: Pick<Check, 'windowFrom' | 'windowTo' | 'gap' | 'finishedAt'>,
  { publishedAt }: Pick<Item, 'publishedAt'>,
): string {
  if (publishedAt) return Date.parse(publishedAt) < Date.parse(finishedAt) ? publishedAt : finishedAt;
  const isRecent =
    windowFrom !== '' && Date.parse(windowTo) - Date.parse(windowFrom) <= MAX_UNDATED_MS && !gap;
  return isRecent ? finishedAt : '';
}

/**
 * Returns the instant at which alerts count an event, in ms. Undefined for an event that is not counted: its item is
 * dropped or hidden, or `appearedAt` returns undefined.
 */
export function countsAt(
  event: Pick<Event, 'countedAt' | 'dropped' | 'labels' | 'matched' | 'occurredAt'>,
): number | undefined {
  return event.dropped || event.labels.includes('hidden') ? undefined : appearedAt(event);
}

/**
 * Returns the instant at which alerts count an event whose item is neither dropped nor hidden, in ms. Undefined if
 * alerts never count the event:
 * - The time at which its item appeared is not known.
 * - Its item was published more than 90 days before it was found.
 * - It is an event of the keyword itself, without an item.
 */
export function appearedAt(event: Pick<Event, 'countedAt' | 'matched' | 'occurredAt'>): number | undefined {
  const item = event.matched?.item;
  if (!item) return undefined;
  // Events that were stored before Earshot had alerts have no `countedAt`.
  const at = event.countedAt ?? item.publishedAt ?? event.occurredAt;
  const occurred = Date.parse(event.occurredAt);
  const ms = Math.min(Date.parse(at), occurred);
  return ms > occurred - COUNTED_MS ? ms : undefined;
}
