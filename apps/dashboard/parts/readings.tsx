import { Badge } from '@mantine/core';
import type { Intent, Label, Sentiment } from '../api/types.js';
import { words } from './format.js';

const SENTIMENT_COLOURS: Readonly<Record<Sentiment, string>> = {
  positive: 'teal',
  negative: 'red',
  neutral: 'gray',
  mixed: 'yellow',
};

export const SENTIMENTS = Object.keys(SENTIMENT_COLOURS) as Sentiment[];

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

/** The colour of a sentiment in charts and badges. */
export const sentimentColour = (sentiment: string | null) =>
  SENTIMENT_COLOURS[sentiment as Sentiment] ?? 'gray';

/** The stance of a mention. */
export function SentimentBadge({ value }: { value: Sentiment }) {
  return <Badge color={sentimentColour(value)}>{words(value)}</Badge>;
}
