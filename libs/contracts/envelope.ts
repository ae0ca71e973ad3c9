import type { SourceId } from './sources.js';

/** The envelope's keys that can hold the source's own object; exactly one does. */
export const BODY_KEYS = ['listing', 'tweet', 'post', 'video', 'item', 'article', 'answer'] as const;
export type BodyKey = (typeof BODY_KEYS)[number];

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
export interface KeywordEnvelope extends Envelope {
  type: 'keyword.paused' | 'keyword.resumed';
  watchId: null;
  data: { reason: string; creditsRemaining: number };
}
