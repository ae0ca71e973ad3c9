import { beginningOf } from '../domain/beginning-of.js';
import { cosine } from './group.js';

/** A sentence of a summary, and the mentions that say the same. */
export interface CitedSentence {
  text: string;
  /** At least one. */
  mentionIds: string[];
}

/** A summary of mentions. */
export interface Summary {
  text: string;
  sentences: CitedSentence[];
  /** `llm` if a language model has written at least one sentence of the summary. */
  reader: 'local' | 'llm';
}

/** A sentence of a mention, and the vector of its meaning. */
export interface SentenceWithVector {
  mentionId: string;
  text: string;
  /** A unit vector. */
  vector: Float32Array;
}

const MAX_SENTENCES = 7;
const SENTENCES_OF_MENTION = 8;
const SENTENCE_CHARACTERS = { min: 15, max: 400 };
const READ_CHARACTERS = 4_000;
/** Two sentences have the same meaning if the cosine of their vectors is at least this. */
const SAME = 0.7;
const MAX_CITED = 20;
const MAX_WORDINGS = 6;
/**
 * Weight of the subject in the score of a sentence: TOPICAL × (similarity to the subject) − (1 − TOPICAL) × (largest
 * similarity to a chosen sentence).
 */
const TOPICAL = 0.7;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Returns the first sentences of a text that are neither too short nor too long for a summary. If no sentence has such
 * a length, returns the first sentence, cut to the maximum length. Leaves out sentences without letters.
 */
export function sentencesOf(text: string): string[] {
  const all = [...segmenter.segment(beginningOf(text, READ_CHARACTERS).toWellFormed())]
    .map(({ segment }) => segment.replace(/\s+/g, ' ').trim())
    .filter((one) => /\p{L}/u.test(one));
  const fitting = all.filter(
    ({ length }) => length >= SENTENCE_CHARACTERS.min && length <= SENTENCE_CHARACTERS.max,
  );
  const shortened = all.slice(0, 1).map((one) => beginningOf(one, SENTENCE_CHARACTERS.max));
  return (fitting.length > 0 ? fitting : shortened).slice(0, SENTENCES_OF_MENTION);
}

/** A sentence that was chosen for a summary, with other sentences of the same meaning. */
export interface Point extends CitedSentence {
  /** The sentences with this meaning. The first is the chosen sentence. */
  wordings: string[];
}

/**
 * Chooses the sentences that are nearest to the subject and do not repeat each other. Returns each with the mentions
 * that say the same.
 * @param centre vector of the subject: a topic, or the average meaning of the mentions
 */
export function pointsOf(
  mentionCount: number,
  sentences: readonly SentenceWithVector[],
  centre: Float32Array,
): Point[] {
  const count = Math.min(MAX_SENTENCES, 1 + Math.ceil(mentionCount / 3));
  const chosen: SentenceWithVector[] = [];
  const remaining = new Set(sentences);
  const scoreOf = (one: SentenceWithVector) => {
    const repeated = Math.max(0, ...chosen.map((other) => cosine(one.vector, other.vector)));
    return TOPICAL * cosine(one.vector, centre) - (1 - TOPICAL) * repeated;
  };
  while (chosen.length < count && remaining.size > 0) {
    const next = [...remaining].reduce((best, one) => (scoreOf(one) > scoreOf(best) ? one : best));
    chosen.push(next);
    for (const one of remaining)
      if (cosine(one.vector, next.vector) >= SAME || one === next) remaining.delete(one);
  }
  return chosen.map((one) => {
    const same = sentences.filter((other) => other !== one && cosine(one.vector, other.vector) >= SAME);
    const unique = (values: string[]) => [...new Set(values)];
    return {
      text: one.text,
      mentionIds: unique([one, ...same].map(({ mentionId }) => mentionId)).slice(0, MAX_CITED),
      wordings: unique([one, ...same].map(({ text }) => text)).slice(0, MAX_WORDINGS),
    };
  });
}

/**
 * Makes a summary from chosen sentences. Each sentence names the mentions that say the same.
 * @throws Error if there are no sentences, or if a sentence has no mentions, because nobody could check a sentence
 * without mentions
 */
export function summaryOf(sentences: readonly CitedSentence[], reader: Summary['reader'] = 'local'): Summary {
  const uncited = sentences.find(({ mentionIds }) => mentionIds.length === 0);
  if (uncited || sentences.length === 0)
    throw new Error('the summary is empty, or one of its sentences cites no mention');
  return {
    text: sentences.map(({ text }) => text).join(' '),
    sentences: sentences.map(({ text, mentionIds }) => ({ text, mentionIds })),
    reader,
  };
}

/** Returns the average of vectors with the same number of elements; an empty vector if there are none. */
export function mean(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) vector.forEach((value, k) => (sum[k]! += value / vectors.length));
  return sum;
}
