/** Every source of the interface, in its order. */
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

/** True when the text names a source of the interface. */
export function isSourceId(text: unknown): text is SourceId {
  return (SOURCE_IDS as readonly unknown[]).includes(text);
}

/** How a term must appear: see docs/matching.md. */
export const MATCH_MODES = ['platform', 'word', 'contains'] as const;
export type MatchMode = (typeof MATCH_MODES)[number];

/** The mode of a search that names none: exact before plentiful. */
export const DEFAULT_MATCH_MODE: MatchMode = 'word';
