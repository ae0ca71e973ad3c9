import { SUBJECT } from '../text/names.js';
import { contrastsOf, sentencesOf } from '../text/sentences.js';
import type { Sentiment } from '#contracts';
import { mixedMood, probabilities, type Mood } from './linear.js';
import { switchingIn } from './switching.js';

/** A reading of sentiment. */
export interface SentimentReading {
  sentiment: Sentiment;
  /** -1 to 1, two decimals. */
  sentimentScore: number;
}

/** A text, and its form with marks for the subject. */
export interface StanceText {
  /** The text in the form that the models were trained on: links and @names are replaced. */
  text: string;
  /** The text in lower case, with § for the subject. */
  marked: string;
}

/** Reads the mood of a part of a text. */
export type ReadMood = (text: string) => Mood;

const SWITCH_SCORE = 0.8;
/** If a text is longer than this, the sentences that name the subject have more weight. */
const LONG_CHARACTERS = 300;
const SIDE = 0.6;
const BALANCE = 0.5;

/**
 * Converts the mood of a text to a reading. If its clauses have opposite moods (`contrast`), the reading can be
 * `mixed`.
 */
export function moodReading(mood: Mood, contrast: readonly number[] = []): SentimentReading {
  const [negative, neutral, positive] = probabilities(mood);
  const score = positive - negative;
  if (isMixed(contrast) && Math.abs(score) < BALANCE)
    return { sentiment: 'mixed', sentimentScore: rounded(score / 2) };
  const max = Math.max(negative, neutral, positive);
  const sentiment = max === neutral ? 'neutral' : max === positive ? 'positive' : 'negative';
  return { sentiment, sentimentScore: rounded(score) };
}

/**
 * Returns the stance toward the subject. If the text mentions a change to or from the subject, or compares the subject
 * with something, this statement determines the stance. Several statements that contradict each other make it `mixed`.
 * Without such a statement, the stance is the mood of the whole text. In long texts, it is combined with the mood of the
 * sentences that name the subject.
 * @param whole the mood of the whole text
 */
export function stanceReading({ text, marked }: StanceText, whole: Mood, read: ReadMood): SentimentReading {
  const switching = switchingIn(sentencesOf(marked));
  const directions = new Set(switching.map(({ direction }) => direction));
  if (directions.size === 2) return { sentiment: 'mixed', sentimentScore: 0 };
  const [direction] = directions;
  const mood = aroundSubject(text, marked, whole, read);
  if (direction === undefined) return moodReading(mood, contrastScores(text, read));
  const [negative, , positive] = probabilities(mood);
  return {
    sentiment: direction === 1 ? 'positive' : 'negative',
    sentimentScore: rounded(direction * SWITCH_SCORE + (positive - negative) * (1 - SWITCH_SCORE)),
  };
}

/**
 * Splits the text into clauses (see `contrastsOf`), and returns the score of each clause. Leaves out clauses of at most
 * 12 characters. Returns an empty list if there are fewer than 2 or more than 8 clauses.
 */
export function contrastScores(text: string, read: ReadMood): number[] {
  const clauses = contrastsOf(text);
  if (clauses.length < 2 || clauses.length > 8) return [];
  return clauses
    .filter((clause) => clause.length > 12)
    .map((clause) => {
      const [negative, , positive] = probabilities(read(clause));
      return positive - negative;
    });
}

function isMixed(scores: readonly number[]): boolean {
  return Math.max(0, ...scores) >= SIDE && Math.min(0, ...scores) <= -SIDE;
}

function aroundSubject(text: string, marked: string, whole: Mood, read: ReadMood): Mood {
  if (text.length <= LONG_CHARACTERS || !marked.includes(SUBJECT)) return whole;
  const sentences = sentencesOf(marked);
  const near = sentences.filter((sentence) => sentence.includes(SUBJECT));
  if (near.length === 0 || near.length === sentences.length) return whole;
  return mixedMood(whole, read(near.join(' ').slice(0, 1_000)), 0.5);
}

function rounded(score: number): number {
  // Adding zero changes -0 to 0.
  return Math.max(-1, Math.min(1, Math.round(score * 100) / 100)) + 0;
}
