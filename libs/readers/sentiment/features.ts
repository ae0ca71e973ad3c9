import { foldedToken, negated, tokensOf } from '../text/tokens.js';

/** Number of hash buckets for words, and for characters. */
export const WORD_BUCKETS = 2 ** 18;
export const CHARACTER_BUCKETS = 2 ** 18;

/**
 * The hashed n-grams of a text: the buckets of its words, and the buckets of its characters. Both are numbered from 0.
 */
export interface Grams {
  words: Uint32Array;
  characters: Uint32Array;
}

/** The tokens of a text: as written, and folded (see `foldedToken`). */
export interface Tokens {
  written: string[];
  folded: string[];
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const NEGATED_MARK = 0x9e3779b9;
const CHARACTER_GRAM = { min: 3, max: 5 };

/** Splits a text into tokens. */
export function tokenise(text: string): Tokens {
  const written = tokensOf(text);
  return { written, folded: written.map(foldedToken) };
}

/**
 * Returns the n-grams of one to three words, and the n-grams of three to five characters, both of the folded tokens. A
 * single word after a negation has its own bucket.
 */
export function gramsOf(tokens: Tokens): Grams {
  return { words: wordGrams(tokens.folded), characters: characterGrams(` ${tokens.folded.join(' ')} `) };
}

function wordGrams(words: readonly string[]): Uint32Array {
  const hashes = words.map(hashOf);
  const reversed = negated(words);
  const grams = new Uint32Array(
    Math.max(0, words.length * 3 - 3) + (words.length > 0 ? (words.length > 1 ? 0 : 1) : 0),
  );
  let count = 0;
  for (let at = 0; at < hashes.length; at++) {
    const one = hashes[at] ?? 0;
    grams[count++] = bucket(reversed[at] ? mixed(one, NEGATED_MARK) : one, WORD_BUCKETS);
    if (at + 1 >= hashes.length) continue;
    const two = mixed(one, hashes[at + 1] ?? 0);
    grams[count++] = bucket(two, WORD_BUCKETS);
    if (at + 2 < hashes.length) grams[count++] = bucket(mixed(two, hashes[at + 2] ?? 0), WORD_BUCKETS);
  }
  return grams.subarray(0, count);
}

function characterGrams(text: string): Uint32Array {
  const { min, max } = CHARACTER_GRAM;
  const grams = new Uint32Array(text.length * (max - min + 1));
  let count = 0;
  for (let start = 0; start + min <= text.length; start++) {
    let hash = FNV_OFFSET;
    const end = Math.min(text.length, start + max);
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
      if (at - start + 1 >= min) grams[count++] = bucket(hash, CHARACTER_BUCKETS);
    }
  }
  return grams.subarray(0, count);
}

function hashOf(word: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), FNV_PRIME);
  return hash;
}

function mixed(one: number, other: number): number {
  return Math.imul(Math.imul(one ^ (one >>> 15), 0x85ebca6b) + other, 0xc2b2ae35);
}

/** Returns the bucket of a hash. The bits are mixed first, so that the bucket depends on all characters. */
function bucket(hash: number, buckets: number): number {
  const spread = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return ((spread ^ (spread >>> 15)) >>> 0) % buckets;
}
