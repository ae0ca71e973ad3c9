import type { Mention } from '../../api/types.js';
import { isInvisible } from '../../parts/format.js';

const KEPT = [
  'id',
  'keywordId',
  'exploreId',
  'source',
  'kind',
  'url',
  'author',
  'vip',
  'community',
  'occurredAt',
  'publishedAt',
  'backfilled',
  'matchedTerms',
  'labels',
  'bucket',
  'storyId',
  'dropped',
  'analysis',
  'corrected',
  'score',
] as const satisfies readonly (keyof Mention)[];

/** Maximum number of characters of a row. More would not be visible. */
const TITLE = 240;
const EXCERPT = 420;

/**
 * The part of a mention that a row of the feed shows. Ten thousand whole mentions, of up to 64 KiB each, would fill the
 * memory.
 */
export type FeedMention = Pick<Mention, (typeof KEPT)[number]> & { title: string; excerpt: string };

export function feedMention(mention: Mention): FeedMention {
  const kept = Object.fromEntries(KEPT.map((key) => [key, mention[key]])) as Pick<
    Mention,
    (typeof KEPT)[number]
  >;
  return {
    ...kept,
    title: shownPart(mention.title ?? '', TITLE),
    excerpt: shownPart(mention.excerpt, EXCERPT),
  };
}

/** Empty if the text has no visible character, because a row without visible text could not be selected. */
function shownPart(text: string, length: number): string {
  const part = text.slice(0, length);
  return isInvisible(part) ? '' : part;
}
