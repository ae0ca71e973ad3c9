import type { Intent } from '#contracts';
import {
  BUY_RULES,
  CHURN_RULES,
  COMPARISON_RULES,
  PROMOTION_RULES,
  RECOMMENDATION_RULES,
} from './market-rules.js';
import type { IntentRule } from './rule.js';
import { softwareIntent, SOFTWARE_SOURCES } from './software.js';
import { helpWantedIn, questionIn } from './questions.js';
import { BUG_RULES, FEATURE_RULES } from './support-rules.js';

/** The texts from which intent is read: lower case, with § for the subject. */
export interface IntentText {
  source: string;
  /** The title by the author; empty for comments and answers. */
  title: string;
  /** Title and text. */
  text: string;
  /** -1 to 1. */
  sentimentScore: number;
  /**
   * Returns the intent of the text as a whole, `other` if the intent is not clear; undefined if the classifier cannot
   * read the text. Called only if no phrase matches.
   */
  gist: () => Intent | undefined;
}

/** An intent, and the words or the observation that it was read from. */
export interface IntentReading {
  intent: Intent;
  intentReason: string;
}

/** Only the beginning of a text is read, because it usually contains the intent. */
const READ_CHARACTERS = 800;
const MAX_QUOTE_LENGTH = 120;
const PRAISE_SCORE = 0.5;
const COMPLAINT_SCORE = -0.4;

/** The first rule that matches determines the intent. */
const RULES: readonly IntentRule[] = [
  ...CHURN_RULES,
  ...RECOMMENDATION_RULES,
  ...PROMOTION_RULES,
  ...BUY_RULES,
  ...COMPARISON_RULES,
  ...FEATURE_RULES,
  ...BUG_RULES,
];
/** Posts about software are rarely about buying, and words such as "order" have other meanings in them. */
const RULES_FOR_SOFTWARE: readonly IntentRule[] = [...CHURN_RULES, ...RECOMMENDATION_RULES];

/**
 * Reads the intent of a post: tries the phrases of the post, then its text as a whole, then its sentiment, until one of
 * these shows an intent. If the text as a whole shows the intent `other`, its sentiment is not tried. For posts about
 * software, tries only some phrases and then software terms.
 */
export function readIntent({ source, title, text, sentimentScore, gist }: IntentText): IntentReading {
  const beginning = text.slice(0, READ_CHARACTERS);
  // Comments and answers have no title. They are read with the general rules.
  if (SOFTWARE_SOURCES.has(source) && title !== '')
    return firstMatch(RULES_FOR_SOFTWARE, title) ?? byWords(source, title, beginning);
  const matched =
    firstMatch(RULES, beginning) ??
    asked('support_request', helpWantedIn(beginning)) ??
    asked('product_question', questionIn(beginning));
  if (matched) return matched;
  const whole = withoutContradiction(gist(), sentimentScore);
  if (whole === 'other') return { intent: 'other', intentReason: 'no intent recognised' };
  if (whole) return { intent: whole, intentReason: 'the text as a whole' };
  if (sentimentScore >= PRAISE_SCORE)
    return { intent: 'praise', intentReason: 'the text is clearly positive' };
  if (sentimentScore <= COMPLAINT_SCORE)
    return { intent: 'complaint', intentReason: 'the text is clearly negative' };
  return { intent: 'other', intentReason: 'no intent recognised' };
}

/**
 * Returns `other` for praise with a negative sentiment and for complaints with a positive sentiment, because these
 * contradict each other. Returns every other intent unchanged.
 */
function withoutContradiction(intent: Intent | undefined, score: number): Intent | undefined {
  const contradicts = (intent === 'praise' && score < 0) || (intent === 'complaint' && score > 0);
  return contradicts ? 'other' : intent;
}

function firstMatch(rules: readonly IntentRule[], text: string): IntentReading | undefined {
  for (const { intent, pattern, unless } of rules) {
    const match = pattern.exec(text);
    if (match && unless?.test(text) !== true) return { intent, intentReason: quoted(match[0]) };
  }
  return undefined;
}

function asked(intent: Intent, words: string | undefined): IntentReading | undefined {
  return words === undefined ? undefined : { intent, intentReason: quoted(words) };
}

function byWords(source: string, title: string, text: string): IntentReading {
  const { intent, reason } = softwareIntent(source, title, text);
  return { intent, intentReason: reason };
}

function quoted(words: string): string {
  const trimmed = words.trim();
  return trimmed.length > MAX_QUOTE_LENGTH
    ? `“${trimmed.slice(0, MAX_QUOTE_LENGTH).toWellFormed()} …”`
    : `“${trimmed}”`;
}
