import { createHash } from 'node:crypto';

const DIMENSIONS = 64;

/**
 * Returns a vector of length 1. The hash of a word determines which numbers the word changes, so texts that share words
 * have similar vectors. For a text without words, the first number is 1 and all others are 0.
 */
export function embeddingOf(text: string): number[] {
  const vector = Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const digest = createHash('sha256').update(word).digest();
    for (let at = 0; at < 8; at += 1) vector[digest[at]! % DIMENSIONS]! += digest[at + 8]! % 2 === 0 ? 1 : -1;
  }
  const length = Math.hypot(...vector);
  if (length === 0) vector[0] = 1;
  return vector.map((value) => value / (length || 1));
}
