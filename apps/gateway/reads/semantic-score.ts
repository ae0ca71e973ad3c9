import type { Meaning } from '#contracts';
import { fromBfloat16, toUnitLength } from '#embeddings';

/** A mention that is possibly among the best results. */
export interface Candidate {
  event_id: string;
  /** ClickHouse's format. */
  occurred_at: string;
  embedding: number[];
  /** The hashes of the mention's words. */
  words: number[];
}

/** A mention with its score, 0 to 1. */
export interface Scored {
  event_id: string;
  occurred_at: string;
  score: number;
}

/**
 * The weight of each word of the question, by its hash. A word that is rarer among the account's newest mentions has a
 * higher weight.
 */
export type WordWeights = ReadonlyMap<number, number>;

/**
 * The part of the score that comes from the words of the question. The other part comes from the meaning of the
 * question. The share of words is squared: a mention with only one of the words must not rank before a mention that
 * says the same with other words. Measured by `npm run bench:search`.
 */
const PART_OF_WORDS = 0.2;
/**
 * The second ranking also uses the meaning of this number of the best mentions of the first ranking (Rocchio's
 * feedback).
 */
const FEEDBACK = 3;

/** Returns the hashes of all words of a question, without duplicates. */
export function wordsOf(meanings: readonly Meaning[]): number[] {
  return [...new Set(meanings.flatMap(({ words }) => words))];
}

/** Returns the inverse document frequency of BM25. */
export function weightOf(count: number, total: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5));
}

/**
 * Returns the candidates without duplicates, best first. The candidates are ranked twice: in the second ranking, a
 * mention also counts as near if its meaning is near the meaning of the best mentions. The second ranking improves the
 * results of questions with few words. If there are several questions, a mention gets the score of the nearest
 * question.
 */
export function ranked(
  meanings: readonly Meaning[],
  weights: WordWeights,
  candidates: readonly Candidate[],
): Scored[] {
  const unique = [...new Map(candidates.map((one) => [one.event_id, one])).values()];
  const best = new Map<string, Scored>();
  for (const { vector, words } of meanings) {
    const question = fromBfloat16(vector);
    const shares = new Map(unique.map((one) => [one, shareOf(words, weights, one)]));
    const scoreOf = (target: Float32Array, one: Candidate) =>
      (1 - PART_OF_WORDS) * nearness(target, one.embedding) + PART_OF_WORDS * (shares.get(one) ?? 0) ** 2;
    const first = byScore(unique.map((one) => ({ one, score: scoreOf(question, one) }))).slice(0, FEEDBACK);
    const target = withFeedback(
      question,
      first.map(({ one }) => one.embedding),
    );
    for (const one of unique) {
      const { event_id, occurred_at } = one;
      const score = scoreOf(target, one);
      if (score > (best.get(event_id)?.score ?? -1)) best.set(event_id, { event_id, occurred_at, score });
    }
  }
  return byScore([...best.values()]);
}

/** Returns the share of the question's words that the mention has, weighted by their rarity: 0 to 1. */
function shareOf(words: readonly number[], weights: WordWeights, { words: own }: Candidate): number {
  const has = new Set(own);
  const sum = (of: readonly number[]) => of.reduce((total, word) => total + (weights.get(word) ?? 0), 0);
  const total = sum(words);
  return total > 0 ? sum(words.filter((word) => has.has(word))) / total : 0;
}

/** Returns the cosine of two unit vectors, 0 to 1. */
function nearness(question: Float32Array, embedding: readonly number[]): number {
  let cosine = 0;
  for (let k = 0; k < embedding.length; k += 1) cosine += (embedding[k] ?? 0) * (question[k] ?? 0);
  return Math.min(1, Math.max(0, cosine));
}

/** Returns the vector of the question plus the mean vector of the best mentions, with unit length. */
function withFeedback(question: Float32Array, first: readonly (readonly number[])[]): Float32Array {
  const mean = (k: number) => first.reduce((sum, one) => sum + (one[k] ?? 0), 0) / Math.max(1, first.length);
  return toUnitLength(question.map((value, k) => value + mean(k)));
}

/** Sorts by score, best first. Entries with equal scores keep their order. */
function byScore<T extends { score: number }>(all: readonly T[]): T[] {
  return [...all].sort((a, b) => b.score - a.score);
}
