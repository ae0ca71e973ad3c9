import type { Check, CheckPeriod } from '#contracts';

/** A period whose items are all known, in ms. */
export interface Covered {
  from: number;
  to: number;
}

/**
 * Sources for which the oldest date in a list does not show how far back the read goes. Their lists have different
 * lengths, or contain entries without a date.
 */
const WITHOUT_HISTORY: ReadonlySet<string> = new Set(['rss', 'ai_answers', 'vinted']);

/**
 * Returns the period whose items a check (or one part of it) has read completely. Usually this is the check's window.
 * Lists are read from the newest item to the oldest. So after a gap, and in a watch's first check, the period begins at
 * the time that `oldestOf` returns. After a gap, only items inside the window count. If the oldest item is not known,
 * the period is empty. It is also empty for a later check whose window has no start.
 * @param whole reads the message with its items; called only after a gap and for a first check
 * @returns undefined for a failed check and for a check whose window has no end: they cover nothing
 */
export function coveredBy(period: CheckPeriod, whole: () => Check): Covered | undefined {
  const to = Date.parse(period.windowTo);
  if (period.failure || Number.isNaN(to)) return undefined;
  const from = Date.parse(period.windowFrom);
  if (period.baseline) return { from: oldestOf(whole(), 0, to), to };
  if (Number.isNaN(from)) return { from: to, to };
  return { from: period.gap ? oldestOf(whole(), from, to) : Math.min(from, to), to };
}

/**
 * Returns the time from which every list was read. A source can have one list of posts and one of comments, and one
 * list for each term. A check does not say which list an item is from, so this function groups the items by kind and
 * term. It finds the oldest item of each group, and returns the newest of these times.
 */
function oldestOf({ source, rememberedItemIds, items }: Check, min: number, latest: number): number {
  // `items` does not contain remembered items, for example items over the limit of one check. If there are any, the
  // oldest item that was read is not known.
  if (rememberedItemIds.length > 0 || WITHOUT_HISTORY.has(source)) return latest;
  const oldest = new Map<string, number>();
  for (const { item, matches } of items) {
    const date = Date.parse(item?.publishedAt ?? '');
    if (!(date >= min && date < latest)) continue;
    for (const term of new Set(['', ...matches.map((match) => match.term)])) {
      const group = `${item?.kind} ${term}`;
      oldest.set(group, Math.min(oldest.get(group) ?? latest, date));
    }
  }
  return oldest.size > 0 ? Math.max(...oldest.values()) : latest;
}
