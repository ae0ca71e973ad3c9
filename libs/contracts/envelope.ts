import type { ChannelKind } from './channels.js';
import type { SourceId } from './sources.js';

/** The keys of the envelope that can contain the source's own object. An event of an item uses exactly one of them. */
export const BODY_KEYS = ['listing', 'tweet', 'post', 'video', 'item', 'article', 'answer'] as const;
export type BodyKey = (typeof BODY_KEYS)[number];

/**
 * All body keys with null, in the order of the API. The code that builds an envelope spreads this object, then sets one
 * key.
 */
export const NO_BODY = {
  listing: null,
  tweet: null,
  post: null,
  video: null,
  item: null,
  article: null,
  answer: null,
} satisfies Record<BodyKey, null>;

/** The body key of each source. */
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

/** The event types of each source, in the order of the API. */
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

/** The event types of a keyword itself. */
export const KEYWORD_EVENT_TYPES = [
  'keyword.alert_fired',
  'keyword.report_ready',
  'keyword.paused',
  'keyword.resumed',
  'channel.disabled',
] as const;

/** All event types. */
export const EVENT_TYPES: readonly string[] = [
  ...Object.values(EVENT_TYPES_OF).flat(),
  ...KEYWORD_EVENT_TYPES,
];

/**
 * The public event, as it is delivered and replayed. All keys except `analysis` are always present; unused keys are
 * null.
 */
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
  /** ISO 8601 UTC: when the item was collected. For an event of a keyword: when the event happened. */
  occurredAt: string;
  /** The status and the answer of the agent step, also if the step failed; null if there was no agent step. */
  ai: object | null;
  /** Absent if no reader classified the item. */
  analysis?: object;
}

/** An event of a keyword itself: the same envelope, with the details in `data`. */
export type KeywordEnvelope = Envelope & { watchId: null } & (
    | { type: 'keyword.paused' | 'keyword.resumed'; data: { reason: string; creditsRemaining: number } }
    | { type: 'channel.disabled'; data: ChannelDisabled }
    | { type: 'keyword.alert_fired'; data: AlertData }
    | { type: 'keyword.report_ready'; data: ReportReady }
  );

/** An alert that fired. Times are ISO 8601 UTC. */
export interface AlertData {
  /** The rule, or the sensitivity of the spike alert: low, medium, high. */
  rule: { id: string; name: string; kind: 'volume' | 'sentiment_shift' } | { spike: string };
  window: { from: string; to: string };
  /** Number of mentions in the window; for `sentiment_shift`, only negative mentions count. */
  observed: number;
  /** The expected number of mentions in the window; 0 if there is no history. */
  baseline: number;
  /** `observed` divided by `baseline`; null if the baseline is 0. */
  multiple: number | null;
  /** At most 5. */
  sampleMentionIds: string[];
  /** The rule does not fire again before this time. */
  suppressedUntil: string;
}

/** A weekly report that can be read. */
export interface ReportReady {
  reportId: string;
  /** `to` is exclusive. */
  period: { from: string; to: string };
  /** The address of the page. The address contains a secret, so readers need no key. */
  url: string;
}

/** A disabled channel. It receives nothing until it is enabled. */
export interface ChannelDisabled {
  /** Null for a webhook address that a keyword contains. */
  channelId: string | null;
  kind: ChannelKind;
  /** Only present for a webhook address that a keyword contains. */
  url?: string;
  /** A text for people. */
  reason: string;
  /**
   * Failed attempts in a row. For a channel: 1 if its destination no longer exists, or if its last address was refused;
   * 0 if its last address has unsubscribed.
   */
  failures: number;
  /** Null if the last attempt got no response. */
  lastStatusCode: number | null;
}
