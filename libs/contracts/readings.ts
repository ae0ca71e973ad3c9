/**
 * The stance of a mention toward the keyword's subject. If `subjectRole` is `topic`: the mood of the mention's text.
 */
export const SENTIMENTS = ['positive', 'negative', 'neutral', 'mixed'] as const;
export type Sentiment = (typeof SENTIMENTS)[number];

/** What the author of a mention wants. */
export const INTENTS = [
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
] as const;
export type Intent = (typeof INTENTS)[number];

/** How mentions are sorted into buckets. */
export const BUCKET_PRESETS = ['product-model', 'theme-sentiment', 'seller', 'duplicates', 'custom'] as const;
export type BucketPreset = (typeof BUCKET_PRESETS)[number];

/** The roles of a keyword's subject. */
export const SUBJECT_ROLES = ['own', 'competitor', 'topic'] as const;
export type SubjectRole = (typeof SUBJECT_ROLES)[number];

/** How long an event waits for its agent step or for a language model, after `occurredAt`. */
export const READING_DEADLINE_MS = 120_000;

/** Maximum length of a text in the answer of an agent step, because the answer is part of a message of limited size. */
export const MAX_AGENT_TEXT_LENGTH = 10_000;
