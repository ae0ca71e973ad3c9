import { api } from '../../api/client.js';
import type { ApiFilters } from './feed-filters.js';
import { feedMention, type FeedMention } from './feed-mention.js';

const PAGE = 200;

/**
 * Mentions that came after the list was read and before its stream began.
 * @param known ids of the mentions in the list
 * @param most if there are more, the search ends, and `isComplete` is false
 * @returns the newest first
 * @throws EarshotError, EarshotConnectionError if the list cannot be read
 */
export async function missedMentions(
  query: ApiFilters,
  known: ReadonlySet<string>,
  most: number,
  signal: AbortSignal,
): Promise<{ mentions: FeedMention[]; isComplete: boolean }> {
  const mentions: FeedMention[] = [];
  for (let cursor: string | undefined; ;) {
    const more = cursor === undefined ? {} : { cursor };
    const page = await api.get('/v1/mentions', { query: { ...query, limit: PAGE, ...more }, signal });
    // What follows the last known mention belongs to the next page of the list.
    const end = page.data.findLastIndex(({ id }) => known.has(id));
    const before = end < 0 ? page.data : page.data.slice(0, end);
    mentions.push(...before.filter(({ id }) => !known.has(id)).map(feedMention));
    cursor = page.nextCursor;
    if (end >= 0 || cursor === undefined) return { mentions, isComplete: true };
    if (mentions.length >= most) return { mentions, isComplete: false };
  }
}
