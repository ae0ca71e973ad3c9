import { hashOf, HASH_SEED, HASH_STEP, isBoundary, isGap, mixed, tokenEnd } from './boundaries.js';
import { Kind } from './characters.js';
import type { FoldedText } from './fold.js';
import { shapeOf } from './term.js';
import type { Anchor } from './term.js';

/** Receives each position of a term, in folded code units. The positions of one term are ordered by `start`. */
export type OnFound = (term: number, start: number, end: number) => void;

// A term that begins with one of these is not found directly after a word. For example, `.net` is not found in
// `acme.net`, and `@acme` is not found in `bob@acme`.
const NEEDS_FREE_START = new Set(['.', '#', '@', '$'].map((char) => char.charCodeAt(0)));

/**
 * Finds whole words and phrases. Each term has one anchor: its token that the fewest other terms contain. A text is
 * read token by token, and only terms whose anchor equals the token are compared. So the time for a text depends on its
 * length and on the number of compared terms. The memory depends on all terms. Terms are numbered in the given order,
 * and must be folded.
 */
export class WordIndex {
  private segmentUnits = new Uint16Array(0);
  /** The bounds of segment i in `segmentUnits` are the entries i and i + 1. */
  private segmentBounds = new Int32Array(1);
  /** The segments of term i: from entry i to entry i + 1 (exclusive). */
  private termSegments: Int32Array;
  private anchorSegment: Int32Array;
  private anchorOffset: Int32Array;
  /** Open addressing: hash and bucket + 1 are adjacent, so that a lookup reads one cache line. */
  private slots = new Int32Array(2);
  private slotMask = 0;
  private bucketStarts = new Int32Array(1);
  private bucketTerms: Int32Array;
  private anchorsOnSingles = false;
  private anchorsOnPairs = false;

  constructor(foldedTerms: readonly string[]) {
    this.termSegments = new Int32Array(foldedTerms.length + 1);
    this.anchorSegment = new Int32Array(foldedTerms.length);
    this.anchorOffset = new Int32Array(foldedTerms.length);
    this.bucketTerms = new Int32Array(foldedTerms.length);
    this.build(foldedTerms);
  }

  /** Reads a folded text once. */
  search(text: FoldedText, found: OnFound): void {
    const { units, kinds, length } = text;
    const onlyWords = !this.anchorsOnSingles && !this.anchorsOnPairs;
    for (let at = 0; at < length;) {
      const kind = kinds[at]!;
      if (kind === Kind.space || (kind < Kind.word && onlyWords)) {
        at += 1;
      } else if (kind >= Kind.word) {
        const from = at;
        let hash = HASH_SEED;
        do hash = Math.imul(hash ^ units[at++]!, HASH_STEP);
        while (at < length && kinds[at] === kind);
        while (at < length && kinds[at] === Kind.extend) hash = Math.imul(hash ^ units[at++]!, HASH_STEP);
        this.lookUp(mixed(hash), text, from, found);
      } else {
        at = this.searchCharacter(text, at, found);
      }
    }
  }

  /** Searches at one character that is not part of a word: an emoji, a symbol, a letter of a script without spaces. */
  private searchCharacter(text: FoldedText, at: number, found: OnFound): number {
    const { units, kinds, length } = text;
    const end = tokenEnd(text, at);
    if (this.anchorsOnSingles) this.lookUp(hashOf(units, at, end), text, at, found);
    if (kinds[at] !== Kind.unspaced || !this.anchorsOnPairs) return end;
    if (end < length && kinds[end] === Kind.unspaced) {
      this.lookUp(hashOf(units, at, tokenEnd(text, end)), text, at, found);
    }
    return end;
  }

  private lookUp(hash: number, text: FoldedText, at: number, found: OnFound): void {
    const { slots, slotMask } = this;
    for (let slot = hash & slotMask; ; slot = (slot + 1) & slotMask) {
      const bucket = slots[2 * slot + 1]! - 1;
      if (bucket < 0) return;
      if (slots[2 * slot] !== hash) continue;
      const last = this.bucketStarts[bucket + 1]!;
      for (let i = this.bucketStarts[bucket]!; i < last; i++) {
        this.compare(this.bucketTerms[i]!, text, at, found);
      }
      return;
    }
  }

  /** Compares the whole term around `at`, where its anchor can be (the hashes are equal). */
  private compare(term: number, text: FoldedText, at: number, found: OnFound): void {
    const first = this.termSegments[term]!;
    const last = this.termSegments[term + 1]! - 1;
    const middle = this.anchorSegment[term]!;
    let start = at - this.anchorOffset[term]!;
    let end = this.equalTo(middle, text, start);
    if (end < 0) return;
    for (let segment = middle + 1; segment <= last; segment++) {
      let from = end;
      while (from < text.length && isGap(text.kinds[from]!)) from += 1;
      end = from === end ? -1 : this.equalTo(segment, text, from);
      if (end < 0) return;
    }
    for (let segment = middle - 1; segment >= first; segment--) {
      let to = start;
      while (to > 0 && isGap(text.kinds[to - 1]!)) to -= 1;
      if (to === start) return;
      start = to - (this.segmentBounds[segment + 1]! - this.segmentBounds[segment]!);
      if (this.equalTo(segment, text, start) < 0) return;
    }
    if (!isBoundary(text, start) || !isBoundary(text, end) || isAttachedToWord(text, start)) return;
    found(term, start, end);
  }

  /** Returns the end of the segment if the text contains it at `at`, otherwise -1. */
  private equalTo(segment: number, text: FoldedText, at: number): number {
    const from = this.segmentBounds[segment]!;
    const size = this.segmentBounds[segment + 1]! - from;
    if (at < 0 || at + size > text.length) return -1;
    for (let i = 0; i < size; i++) {
      if (this.segmentUnits[from + i] !== text.units[at + i]) return -1;
    }
    return at + size;
  }

  private build(foldedTerms: readonly string[]): void {
    const shapes = foldedTerms.map(shapeOf);
    this.layOut(shapes.map(({ segments }) => segments));
    // Each term uses the anchor that the fewest terms contain.
    const holders = new Map<number, number>();
    for (const { anchors } of shapes) {
      for (const { hash } of anchors) {
        holders.set(hash, (holders.get(hash) ?? 0) + 1);
      }
    }
    const buckets = new Map<number, number[]>();
    shapes.forEach(({ anchors }, term) => {
      const anchor = rarest(anchors, holders);
      if (!anchor) return;
      this.anchorSegment[term] = this.termSegments[term]! + anchor.segment;
      this.anchorOffset[term] = anchor.offset;
      const bucket = buckets.get(anchor.hash);
      if (bucket) bucket.push(term);
      else buckets.set(anchor.hash, [term]);
      this.noteAnchorKind(anchor);
    });
    this.fillSlots(buckets);
  }

  private layOut(terms: readonly Uint16Array[][]): void {
    let segments = 0;
    let units = 0;
    for (const term of terms) {
      segments += term.length;
      for (const segment of term) units += segment.length;
    }
    this.segmentUnits = new Uint16Array(units);
    this.segmentBounds = new Int32Array(segments + 1);
    let [segment, unit] = [0, 0];
    terms.forEach((term, index) => {
      for (const codes of term) {
        this.segmentUnits.set(codes, unit);
        unit += codes.length;
        this.segmentBounds[++segment] = unit;
      }
      this.termSegments[index + 1] = segment;
    });
  }

  private noteAnchorKind({ kind }: Anchor): void {
    if (kind === 'single') this.anchorsOnSingles = true;
    if (kind === 'pair') this.anchorsOnPairs = true;
  }

  private fillSlots(buckets: ReadonlyMap<number, number[]>): void {
    const size = 2 ** Math.ceil(Math.log2(2 * buckets.size + 1));
    this.slots = new Int32Array(2 * size);
    this.slotMask = size - 1;
    this.bucketStarts = new Int32Array(buckets.size + 1);
    let [bucket, at] = [0, 0];
    for (const [hash, terms] of buckets) {
      let slot = hash & this.slotMask;
      while (this.slots[2 * slot + 1] !== 0) slot = (slot + 1) & this.slotMask;
      this.slots[2 * slot] = hash;
      this.slots[2 * slot + 1] = bucket + 1;
      this.bucketTerms.set(terms, at);
      at += terms.length;
      this.bucketStarts[++bucket] = at;
    }
  }
}

function rarest(anchors: readonly Anchor[], holders: ReadonlyMap<number, number>): Anchor | undefined {
  let best: Anchor | undefined;
  let fewest = Infinity;
  for (const anchor of anchors) {
    const count = holders.get(anchor.hash)!;
    if (count > fewest || (count === fewest && anchor.length <= best!.length)) continue;
    best = anchor;
    fewest = count;
  }
  return best;
}

function isAttachedToWord(text: FoldedText, start: number): boolean {
  return start > 0 && NEEDS_FREE_START.has(text.units[start]!) && text.kinds[start - 1]! >= Kind.word;
}
