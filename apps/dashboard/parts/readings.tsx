import { Badge } from '@mantine/core';
import type { Sentiment } from '../api/types.js';
import { words } from './format.js';

const SENTIMENT_COLOURS: Readonly<Record<Sentiment, string>> = {
  positive: 'teal',
  negative: 'red',
  neutral: 'gray',
  mixed: 'yellow',
};

/** Returns the colour of a sentiment in charts and badges. */
export const sentimentColour = (sentiment: string | null) =>
  SENTIMENT_COLOURS[sentiment as Sentiment] ?? 'gray';

/** Shows the sentiment of a mention. */
export function SentimentBadge({ value }: { value: Sentiment }) {
  return <Badge color={sentimentColour(value)}>{words(value)}</Badge>;
}
