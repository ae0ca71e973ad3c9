import type { FeedMention } from './feed-mention.js';

/**
 * A line of the feed: a mention, and the other mentions of its story. The other mentions have no separate lines
 * until the story is opened.
 */
export interface FeedLine {
  mention: FeedMention;
  /** True if the line belongs to an open story and is below the first line of the story. */
  isInner: boolean;
  others: readonly FeedMention[];
}

/** Returns one line for each mention. */
export const plainLines = (mentions: readonly FeedMention[]): FeedLine[] =>
  mentions.map((mention) => ({ mention, isInner: false, others: [] }));

/**
 * Returns one line for each story, at the position of its first mention in the list, and one line for each mention
 * without a story.
 * @param open stories whose other mentions have a line each, below the line of the story
 */
export function storyLines(mentions: readonly FeedMention[], open: ReadonlySet<string>): FeedLine[] {
  const stories = new Map<string, FeedMention[]>();
  for (const mention of mentions) {
    const key = mention.storyId ?? mention.id;
    const story = stories.get(key);
    if (story) story.push(mention);
    else stories.set(key, [mention]);
  }
  return [...stories].flatMap(([key, [mention, ...others]]) => {
    if (!mention) return [];
    const inner = open.has(key) ? others.map((other) => ({ mention: other, isInner: true, others: [] })) : [];
    return [{ mention, isInner: false, others }, ...inner];
  });
}
