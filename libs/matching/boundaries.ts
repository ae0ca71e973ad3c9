import { Kind } from './characters.js';
import type { FoldedText } from './fold.js';

/** Returns true if the position is not inside a word, a character or an emoji (0 and the length are boundaries). */
export function isBoundary(text: FoldedText, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const kind = text.kinds[at]!;
  if (kind === Kind.extend) return false;
  return kind < Kind.word || kind !== text.kinds[at - 1];
}

/** Returns true for kinds that can separate the words of a term: whitespace and dashes. */
export function isGap(kind: number): boolean {
  return kind === Kind.space || kind === Kind.dash;
}

/** Returns the end of the token that begins at `from`: a whole word, or one character of any other kind. */
export function tokenEnd(text: FoldedText, from: number): number {
  const { kinds, length } = text;
  let at = from + 1;
  const kind = kinds[from]!;
  if (kind >= Kind.word) while (at < length && kinds[at] === kind) at += 1;
  while (at < length && kinds[at] === Kind.extend) at += 1;
  return at;
}

/** The initial value of a hash, and the factor of each step (FNV-1a). */
export const HASH_SEED = 0x811c9dc5 | 0;
export const HASH_STEP = 0x01000193;

/** Returns the FNV-1a hash of code units. Equal hashes are only a hint; the units are compared afterwards. */
export function hashOf(units: Uint16Array, from: number, to: number): number {
  let hash = HASH_SEED;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ units[i]!, HASH_STEP);
  return mixed(hash);
}

/** Does the last step of a hash: mixes the high bits into the low bits, because tables use only the low bits. */
export function mixed(hash: number): number {
  return hash ^ (hash >>> 15);
}
