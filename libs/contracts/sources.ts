/** All sources of the API, in the order of the API. */
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

/** The identifier of a source. */
export type SourceId = (typeof SOURCE_IDS)[number];

/** Returns true if the text is the identifier of a source. */
export function isSourceId(text: unknown): text is SourceId {
  return (SOURCE_IDS as readonly unknown[]).includes(text);
}

/** How a term must appear in the text: see docs/matching.md. */
export const MATCH_MODES = ['platform', 'word', 'contains'] as const;
export type MatchMode = (typeof MATCH_MODES)[number];

/** The default mode of a search: precise results are more important than many results. */
export const DEFAULT_MATCH_MODE: MatchMode = 'word';
