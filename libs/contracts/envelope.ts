import type { SourceId } from './sources.js';

/** The envelope's keys that can hold the source's own object; exactly one does. */
export const BODY_KEYS = ['listing', 'tweet', 'post', 'video', 'item', 'article', 'answer'] as const;
export type BodyKey = (typeof BODY_KEYS)[number];

/** All of them empty, in the order of the interface: an envelope spreads it, then fills one. */
export const NO_BODY = {
  listing: null,
  tweet: null,
  post: null,
  video: null,
  item: null,
  article: null,
  answer: null,
} satisfies Record<BodyKey, null>;

/** Which key holds the object of which source. */
export const BODY_KEY_OF: Readonly<Record<SourceId, BodyKey>> = {
  x: 'tweet',
  reddit: 'post',
  youtube: 'video',
  tiktok: 'video',
  bluesky: 'post',
  hackernews: 'item',
  mastodon: 'post',
  lemmy: 'post',
  github: 'item',
  producthunt: 'item',
  stackoverflow: 'item',
  rss: 'article',
  ai_answers: 'answer',
  vinted: 'listing',
};

/** The types of event of each source, in the order of the interface. */
export const EVENT_TYPES_OF: Readonly<Record<SourceId, readonly string[]>> = {
  x: ['tweet.created'],
  reddit: ['post.created', 'reddit_comment.created'],
  youtube: ['video.created'],
  tiktok: ['tiktok_video.created'],
  bluesky: ['bluesky_post.created'],
  hackernews: ['hn_item.created'],
  mastodon: ['mastodon_post.created'],
  lemmy: ['lemmy_post.created', 'lemmy_comment.created'],
  github: ['github_item.created'],
  producthunt: ['producthunt_post.created'],
  stackoverflow: ['stackoverflow_question.created', 'stackoverflow_answer.created'],
  rss: ['article.created'],
  ai_answers: ['answer.created', 'answer.changed', 'term.cited', 'term.uncited'],
  vinted: ['listing.created', 'listing.price_changed', 'listing.delisted'],
};

/** The types of event of a keyword itself. */
export const KEYWORD_EVENT_TYPES = [
  'keyword.alert_fired',
  'keyword.report_ready',
  'keyword.paused',
  'keyword.resumed',
  'channel.disabled',
] as const;

/** Every type of event. */
export const EVENT_TYPES: readonly string[] = [
  ...Object.values(EVENT_TYPES_OF).flat(),
  ...KEYWORD_EVENT_TYPES,
];

/** The public event, as it is delivered and replayed. Every key is always there; unused ones are null. */
export interface Envelope {
  id: string;
  type: string;
  watchId: string | null;
  keywordId: string | null;
  listing: object | null;
  tweet: object | null;
  post: object | null;
  video: object | null;
  item: object | null;
  article: object | null;
  answer: object | null;
  previousPrice: number | null;
  /** ISO 8601 UTC: when it was collected. */
  occurredAt: string;
  ai: object | null;
}

/** An event of a keyword itself: the same envelope, and what happened in `data`. */
export type KeywordEnvelope = Envelope & { watchId: null } & (
    | { type: 'keyword.paused' | 'keyword.resumed'; data: { reason: string; creditsRemaining: number } }
    | { type: 'channel.disabled'; data: ChannelDisabled }
  );

/** A channel that gets nothing more until it is enabled. */
export interface ChannelDisabled {
  /** Null of a webhook address that a keyword names. */
  channelId: string | null;
  kind: 'webhook';
  url: string;
  /** In plain words. */
  reason: string;
  /** Failed attempts in a row. */
  failures: number;
  /** Null when the last attempt got no answer. */
  lastStatusCode: number | null;
}
