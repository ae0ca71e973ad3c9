import { INTENTS, SENTIMENTS, type Intent, type Sentiment, type SubjectRole } from '#contracts';
import type { LlmReading } from '../reading.js';
import { checkedBySchema } from './checked-by-schema.js';

/** What the items are about. */
export interface ReadSubject {
  /** The keyword's name and its terms. */
  names: readonly string[];
  role: SubjectRole;
  /** The account's own description of what it looks for; empty without one. */
  about: string;
}

/** Sentiment and intent of one item, each with a short reason. */
export interface AnalysisAnswer {
  sentiment: Sentiment;
  /** From -1 (negative) to 1 (positive). */
  sentimentScore: number;
  sentimentReason: string;
  intent: Intent;
  intentReason: string;
}

const REASON = { type: 'string', maxLength: 300 };
const SCHEMA = {
  type: 'object',
  properties: {
    sentiment: { type: 'string', enum: [...SENTIMENTS] },
    sentimentScore: { type: 'number', minimum: -1, maximum: 1 },
    sentimentReason: REASON,
    intent: { type: 'string', enum: [...INTENTS] },
    intentReason: REASON,
  },
  required: ['sentiment', 'sentimentScore', 'sentimentReason', 'intent', 'intentReason'],
  additionalProperties: false,
};
const bySchema = checkedBySchema<AnalysisAnswer>(SCHEMA);

const MEANINGS: Readonly<Record<Intent, string>> = {
  buy_intent: 'wants to buy, or is about to',
  recommendation_request: 'asks others what to buy or to use',
  product_question: 'asks how the product works or what it can do',
  support_request: 'asks for help with a problem',
  bug_report: 'reports that something does not work',
  feature_request: 'wishes for something that the product lacks',
  complaint: 'complains about product, price or service',
  praise: 'praises it',
  churn_risk: 'has left or thinks about leaving',
  comparison: 'compares it with others',
  promotion: 'advertises or sells something',
  other: 'none of these',
};

/** Returns the question to a language model about the sentiment and intent of each item toward a subject. */
export function analysisReading(subject: ReadSubject): LlmReading<AnalysisAnswer> {
  return {
    prompt: { name: 'analysis', version: '1' },
    instructions: instructionsOf(subject),
    schema: SCHEMA,
    check(answer) {
      const checked = bySchema(answer);
      if ('fault' in checked) return checked;
      const { sentiment, sentimentScore: score } = checked.value;
      const isOpposed = (sentiment === 'positive' && score < 0) || (sentiment === 'negative' && score > 0);
      return isOpposed ? { fault: `"sentimentScore" ${score} contradicts "${sentiment}"` } : checked;
    },
  };
}

function instructionsOf({ names, role, about }: ReadSubject): string {
  const subject = names.map((name) => JSON.stringify(name)).join(', ');
  const stance =
    role === 'topic'
      ? `The subject is the topic ${subject}. Sentiment is the mood of the text itself.`
      : `The subject is ${subject}, ${role === 'own' ? 'our own brand' : "a competitor's brand"}. Sentiment is what the author thinks of the subject, not the mood of the text: who leaves another brand for the subject is positive, who leaves the subject for another is negative. An item that only names the subject is neutral.`;
  return `You read posts for a monitoring service. For each item you tell sentiment and intent.
${stance}
sentiment: positive, negative, neutral (takes no side) or mixed (both sides, each clearly).
sentimentScore: -1 (as negative as possible) to 1 (as positive as possible); 0 is neutral.
intent: what the author wants with the item.
${INTENTS.map((intent) => `- ${intent}: ${MEANINGS[intent]}`).join('\n')}
sentimentReason, intentReason: the words of the item that show it, quoted, at most 15 words each.${
    about === '' ? '' : `\nWhat the user looks for, as background: ${JSON.stringify(about)}`
  }`;
}
