import { Kind } from './characters.js';

/**
 * Settles the kinds that depend on both neighbours, from left to right in one pass: `3.14` and `snake_case` are
 * one word, `l·l` is, flags are pairs. What remains is `Kind.space` to `Kind.hangul`.
 */
export function settleKinds(kinds: Uint8Array, length: number): void {
  let before: number = Kind.space;
  // What an earlier, longer text left there must not look like a neighbour.
  kinds[length] = Kind.unknown;
  for (let at = 0; at < length; at++) {
    const kind = kinds[at]!;
    if (kind === Kind.digit) {
      kinds[at] = Kind.word;
    } else if (kind > Kind.digit) {
      const next = kinds[at + 1];
      if (kind === Kind.connector) at = settleConnectors(kinds, length, at, isWordLike(before)) - 1;
      else if (kind === Kind.regional) at = settleFlags(kinds, length, at) - 1;
      else if (kind === Kind.midNumber) kinds[at] = joint(before === Kind.digit && next === Kind.digit);
      else if (kind === Kind.midLetter) kinds[at] = joint(before === Kind.word && next === Kind.word);
    }
    before = kind;
  }
}

/** `a_b` is one word, `_a_` is a word with emphasis. */
function settleConnectors(kinds: Uint8Array, length: number, from: number, afterWord: boolean): number {
  let end = from;
  while (end < length && kinds[end] === Kind.connector) end += 1;
  kinds.fill(joint(afterWord && end < length && isWordLike(kinds[end]!)), from, end);
  return end;
}

/** Regional indicators pair up from the start of their run: each pair is one flag, each indicator two code units. */
function settleFlags(kinds: Uint8Array, length: number, from: number): number {
  let at = from;
  for (let count = 0; at < length && kinds[at] === Kind.regional; count++) {
    kinds[at] = count % 2 === 0 ? Kind.other : Kind.extend;
    at += 2;
  }
  return at;
}

function isWordLike(kind: number): boolean {
  return kind === Kind.word || kind === Kind.digit;
}

function joint(joins: boolean): number {
  return joins ? Kind.word : Kind.other;
}
