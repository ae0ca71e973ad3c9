import { Kind } from './characters.js';

/**
 * Determines the kinds that depend on both neighbours, from left to right in one pass: `3.14`, `snake_case` and `l·l`
 * are one word each, flags are pairs. Afterwards only `Kind.space` to `Kind.hangul` remain.
 */
export function resolveKinds(kinds: Uint8Array, length: number): void {
  let before: number = Kind.space;
  // The array can contain kinds of an earlier, longer text, which must not count as neighbours.
  kinds[length] = Kind.unknown;
  for (let at = 0; at < length; at++) {
    const kind = kinds[at]!;
    if (kind === Kind.digit) {
      kinds[at] = Kind.word;
    } else if (kind > Kind.digit) {
      const next = kinds[at + 1];
      if (kind === Kind.connector) at = resolveConnectors(kinds, length, at, isWordLike(before)) - 1;
      else if (kind === Kind.regional) at = resolveFlags(kinds, length, at) - 1;
      else if (kind === Kind.midNumber) kinds[at] = joint(before === Kind.digit && next === Kind.digit);
      else if (kind === Kind.midLetter) kinds[at] = joint(before === Kind.word && next === Kind.word);
    }
    before = kind;
  }
}

/** Gives connectors their final kind: `a_b` is one word, and `_a_` is a word with emphasis. */
function resolveConnectors(kinds: Uint8Array, length: number, from: number, afterWord: boolean): number {
  let end = from;
  while (end < length && kinds[end] === Kind.connector) end += 1;
  kinds.fill(joint(afterWord && end < length && isWordLike(kinds[end]!)), from, end);
  return end;
}

/**
 * Joins regional indicators in pairs from the start of their run: each pair is one flag, each indicator has two code
 * units.
 */
function resolveFlags(kinds: Uint8Array, length: number, from: number): number {
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
