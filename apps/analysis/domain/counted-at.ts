import type { Check, Event, Item } from '#contracts';

/**
 * An item without a date appeared at some time in the period of its check. If the period is longer, the time is too
 * uncertain.
 */
const LONGEST_UNDATED_MS = 2 * 3_600_000;
/** No baseline uses older history. */
export const COUNTED_DAYS = 90;
const COUNTED_MS = COUNTED_DAYS * 24 * 3_600_000;

/**
 * When an item appeared, for the counts of alerts: its publication, but not later than its collection, because clocks of
 * upstreams can be ahead. An item without a date appeared at its collection if the check before it was recent; after a
 * gap its time is not known.
 * @returns ISO 8601; empty if it is not known
 */
export function countedAtOf(
  { windowFrom, windowTo, gap, finishedAt }: Pick<Check, 'windowFrom' | 'windowTo' | 'gap' | 'finishedAt'>,
  { publishedAt }: Pick<Item, 'publishedAt'>,
): string {
  if (publishedAt) return Date.parse(publishedAt) < Date.parse(finishedAt) ? publishedAt : finishedAt;
  const isRecent =
    windowFrom !== '' && Date.parse(windowTo) - Date.parse(windowFrom) <= LONGEST_UNDATED_MS && !gap;
  return isRecent ? finishedAt : '';
}

/**
 * The instant at which an event counts, in ms; undefined if it does not count: a dropped or hidden item, one that was
 * published long ago, or an event of the keyword itself.
 */
export function countsAt(
  event: Pick<Event, 'countedAt' | 'dropped' | 'labels' | 'matched' | 'occurredAt'>,
): number | undefined {
  const item = event.matched?.item;
  if (!item || event.dropped || event.labels.includes('hidden')) return undefined;
  // Events that were stored before Earshot had alerts have no `countedAt`.
  const at = event.countedAt ?? item.publishedAt ?? event.occurredAt;
  const occurred = Date.parse(event.occurredAt);
  const ms = Math.min(Date.parse(at), occurred);
  return ms > occurred - COUNTED_MS ? ms : undefined;
}
