import { hashOf, isGap, tokenEnd } from './boundaries.js';
import { Kind } from './characters.js';
import { Folder } from './fold.js';
import type { FoldedText } from './fold.js';

const folder = new Folder();

/**
 * Returns the form in which terms are compared and hashed: folded (see `Folder.fold`: case, accents as composed
 * characters, whitespace, dashes, invisible characters), then trimmed. Two terms with the same form match the same
 * texts. Empty if nothing visible remains. Change the results of this function only with great care: stored criteria
 * hashes are derived from them.
 */
export function foldTerm(term: string): string {
  const folded = folder.fold(term);
  return stringOf(folded.units.subarray(0, folded.length)).trim();
}

/**
 * Returns true if the text has characters, but none that can be seen. A text of only spaces counts as empty, not as
 * invisible.
 */
export function isInvisible(text: string): boolean {
  return !/^\p{White_Space}*$/u.test(text) && foldTerm(text) === '';
}

/**
 * Returns the terms of a search in the form that identifies the search: folded, without blank terms and repetitions,
 * sorted by code unit.
 */
export function canonicalTerms(terms: readonly string[]): string[] {
  return [...new Set(terms.map(foldTerm))].filter((term) => term !== '').sort();
}

/**
 * The part of a term under which the index finds the term: a whole word, two adjacent characters, or one character.
 */
export interface Anchor {
  /** The segment of the term, and the position in it. */
  segment: number;
  offset: number;
  kind: 'word' | 'pair' | 'single';
  /** The hash of the units (see `hashOf`), and their number. */
  hash: number;
  length: number;
}

/** A folded term, split at gaps. Its segments are compared unit by unit. */
export interface TermShape {
  segments: Uint16Array[];
  /** All words and pairs of the term. If there are none: its single characters. Not empty if the term is not blank. */
  anchors: Anchor[];
}

/** Splits a folded term (see `foldTerm`) into the parts that the word index compares. */
export function shapeOf(foldedTerm: string): TermShape {
  const text = folder.fold(foldedTerm);
  const segments: Uint16Array[] = [];
  const words: Anchor[] = [];
  const pairs: Anchor[] = [];
  const singles: Anchor[] = [];
  for (const [from, to] of segmentBounds(text)) {
    const segment = segments.length;
    segments.push(text.units.slice(from, to));
    let previous = -1;
    for (let at = from; at < to;) {
      const end = Math.min(tokenEnd(text, at), to);
      const anchor = (kind: Anchor['kind'], start: number): Anchor => {
        const hash = hashOf(text.units, start, end);
        return { segment, offset: start - from, kind, hash, length: end - start };
      };
      const kind = text.kinds[at]!;
      if (kind >= Kind.word) words.push(anchor('word', at));
      else if (kind !== Kind.space) singles.push(anchor('single', at));
      if (kind === Kind.unspaced && previous >= 0) pairs.push(anchor('pair', previous));
      previous = kind === Kind.unspaced ? at : -1;
      at = end;
    }
  }
  const best = [...words, ...pairs];
  return { segments, anchors: best.length > 0 ? best : singles };
}

/**
 * Returns the bounds of the segments. They end at gaps between visible characters. A dash at either end of the term
 * belongs to a segment.
 */
function segmentBounds(text: FoldedText): [number, number][] {
  const bounds: [number, number][] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (!isGap(text.kinds[at]!)) continue;
    let end = at;
    while (end < text.length && isGap(text.kinds[end]!)) end += 1;
    if (at > 0 && end < text.length) {
      bounds.push([from, at]);
      from = end;
    }
    at = end - 1;
  }
  if (text.length > from) bounds.push([from, text.length]);
  return bounds;
}

function stringOf(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
}
