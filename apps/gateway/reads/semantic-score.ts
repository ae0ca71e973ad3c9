import type { Meaning } from '#contracts';
import { fromBfloat16 } from '#embeddings';

/** The weight of a word by its hash. */
export type WordWeights = ReadonlyMap<number, number>;

/**
 * The part of the score that comes from the words of the question; the rest comes from its meaning. The share of words
 * counts by its square: a mention that has only one of the words must not go before one that says the same with others.
 * Measured by `npm run bench:search`.
 */
const PART_OF_WORDS = 0.2;

/** The hashes of all words of a question, each once. */
export function wordHashes(meanings: readonly Meaning[]): number[] {
  return [...new Set(meanings.flatMap(({ words }) => words))];
}

/**
 * SQL of a mention's score, 0 to 1: how near its meaning is to the question (cosine), and which share of the question's
 * words it has, weighted by their rarity. A question of several texts counts as its nearest one. All numbers in it were
 * computed by us; as parameters they would not fit into a request's address.
 */
export function scoreSql(meanings: readonly Meaning[], weights: WordWeights): string {
  const scores = meanings.map((meaning) => textScore(meaning, weights));
  return scores.length === 1 ? scores[0]! : `greatest(${scores.join(', ')})`;
}

function textScore({ vector, words }: Meaning, weights: WordWeights): string {
  const meaning = `greatest(0, least(1, dotProduct(embedding, ${vectorSql(vector)})))`;
  const total = words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  if (total === 0) return meaning;
  const shares = words.map(
    (word) => `${((weights.get(word) ?? 0) / total).toFixed(6)} * has(words, ${word})`,
  );
  return `(${1 - PART_OF_WORDS} * ${meaning} + ${PART_OF_WORDS} * pow(${shares.join(' + ')}, 2))`;
}

function vectorSql(vector: Uint8Array): string {
  return `[${Array.from(fromBfloat16(vector), (value) => Number(value.toPrecision(5))).join(',')}]::Array(Float32)`;
}
