import type { Intent, Label, Sentiment, Source } from './types.js';

const EVERY_SOURCE: Readonly<Record<Source, true>> = {
  x: true,
  reddit: true,
  youtube: true,
  tiktok: true,
  bluesky: true,
  hackernews: true,
  mastodon: true,
  lemmy: true,
  github: true,
  producthunt: true,
  stackoverflow: true,
  rss: true,
  ai_answers: true,
  vinted: true,
};

/** Every source, in the order in which it is offered. */
export const SOURCES = Object.keys(EVERY_SOURCE) as Source[];

export const SENTIMENTS: readonly Sentiment[] = ['positive', 'negative', 'neutral', 'mixed'];

export const INTENTS: readonly Intent[] = [
  'buy_intent',
  'recommendation_request',
  'product_question',
  'support_request',
  'bug_report',
  'feature_request',
  'complaint',
  'praise',
  'churn_risk',
  'comparison',
  'promotion',
  'other',
];

export const LABELS: readonly Label[] = ['to_reply', 'starred', 'flagged', 'hidden'];
