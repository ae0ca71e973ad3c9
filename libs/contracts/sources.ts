/** The ids of all sources, in the order in which `GET /v1/sources` lists them. */
export const SOURCE_IDS = [
  'x',
  'reddit',
  'youtube',
  'tiktok',
  'bluesky',
  'hackernews',
  'mastodon',
  'lemmy',
  'github',
  'producthunt',
  'stackoverflow',
  'rss',
  'ai_answers',
  'vinted',
] as const;

/** The id of a source. */
export type SourceId = (typeof SOURCE_IDS)[number];

/** Returns true if the value is the id of a source. */
export function isSourceId(text: unknown): text is SourceId {
  return (SOURCE_IDS as readonly unknown[]).includes(text);
}

/**
 * How Earshot compares the query and the terms of a search with a post: see docs/matching.md. With `platform`, the
 * search of the source decides.
 */
export const MATCH_MODES = ['platform', 'word', 'contains'] as const;
/** One of these modes. */
export type MatchMode = (typeof MATCH_MODES)[number];

/** The mode of a search without a mode: precise results are more important than many results. */
export const DEFAULT_MATCH_MODE: MatchMode = 'word';
