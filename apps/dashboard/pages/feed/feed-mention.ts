import type { Mention } from '../../api/types.js';
import { beginningOf, isInvisible } from '../../parts/format.js';

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

/** Maximum lengths of the title and the excerpt in a row of the feed, in UTF-16 code units. */
const MAX_TITLE_LENGTH = 240;
const MAX_EXCERPT_LENGTH = 420;

/**
 * The part of a mention that a row of the feed shows. Complete mentions would use too much memory in a long feed: the
 * text alone can have 64 KiB.
 */
export type FeedMention = Pick<Mention, (typeof KEPT)[number]> & { title: string; excerpt: string };

/** Shortens a mention. */
export function feedMention(mention: Mention): FeedMention {
  const kept = Object.fromEntries(KEPT.map((key) => [key, mention[key]])) as Pick<
    Mention,
    (typeof KEPT)[number]
  >;
  return {
    ...kept,
    title: shownPart(mention.title ?? '', MAX_TITLE_LENGTH),
    excerpt: shownPart(mention.excerpt, MAX_EXCERPT_LENGTH),
  };
}

/**
 * Returns the beginning of a text. Returns an empty text if no character is visible, so that the row shows a
 * replacement.
 */
function shownPart(text: string, length: number): string {
  const part = beginningOf(text, length);
  return isInvisible(part) ? '' : part;
}
