import type { Intent, Label, Sentiment, Source } from './types.js';

/**
 * Returns all members of a union type of the API (for example `Source`), in the order of the keys of `values`. The code does
 * not compile if a member is missing or unknown.
 */
const all = <T extends string>(values: Readonly<Record<T, true>>) => Object.keys(values) as T[];

/** All sources, in the order in which the pages list them. */
export const SOURCES = all<Source>({
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
});

/** All sentiments. */
export const SENTIMENTS = all<Sentiment>({ positive: true, negative: true, neutral: true, mixed: true });

/** All intents. */
export const INTENTS = all<Intent>({
  buy_intent: true,
  recommendation_request: true,
  product_question: true,
  support_request: true,
  bug_report: true,
  feature_request: true,
  complaint: true,
  praise: true,
  churn_risk: true,
  comparison: true,
  promotion: true,
  other: true,
});

/** All labels. */
export const LABELS = all<Label>({ to_reply: true, starred: true, flagged: true, hidden: true });
