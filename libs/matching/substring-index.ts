import { isDiacritic } from './characters.js';
import type { FoldedText } from './fold.js';
import type { OnFound } from './word-index.js';

const ROOT = 0;
const NONE = -1;

/**
 * Finds substrings with the automaton of Aho and Corasick over folded code units, in flat arrays. Nodes are numbered by
 * level, so that the children of one node are adjacent and ordered by label. Most nodes have one child; a
 * node with many children is searched by bisection. Terms are numbered in the given order, and must be folded
 * and distinct.
 */
export class SubstringIndex {
  /** Children of node i: from `firstChild[i]` to `firstChild[i + 1]` (exclusive). */
  private firstChild = new Int32Array(2);
  private labels = new Uint16Array(1);
  private fails = new Int32Array(1);
  /** The term that ends at the node, and the nearest node with a term on its chain of failure links. */
  private termAt = new Int32Array(1).fill(NONE);
  private shorter = new Int32Array(1).fill(NONE);
  private readonly rootChildren = new Int32Array(0x10000);
  private readonly lengths: Int32Array;

  constructor(foldedTerms: readonly string[]) {
    this.lengths = Int32Array.from(foldedTerms, (term) => term.length);
    this.build(foldedTerms);
    this.link();
  }

  /** Reads a folded text once. */
  search(text: FoldedText, found: OnFound): void {
    const { units, length } = text;
    const { fails, termAt, shorter, rootChildren } = this;
    let node = ROOT;
    for (let at = 0; at < length; at++) {
      const unit = units[at]!;
      let child = NONE;
      while (node !== ROOT && (child = this.childOf(node, unit)) === NONE) node = fails[node]!;
      node = node === ROOT ? rootChildren[unit]! : child;
      if (node === ROOT) continue;
      for (let end = termAt[node]! === NONE ? shorter[node]! : node; end !== NONE; end = shorter[end]!) {
        const term = termAt[end]!;
        // A letter with a separate accent is another letter, even if both do not compose to one character.
        if (at + 1 < length && isDiacritic(units[at + 1]!)) continue;
        found(term, at + 1 - this.lengths[term]!, at + 1);
      }
    }
  }

  private childOf(node: number, unit: number): number {
    let low = this.firstChild[node]!;
    let high = this.firstChild[node + 1]!;
    while (high - low > 4) {
      const middle = (low + high) >> 1;
      if (this.labels[middle]! <= unit) low = middle;
      else high = middle;
    }
    for (; low < high; low++) if (this.labels[low] === unit) return low;
    return NONE;
  }

  /** Builds the tree level by level from sorted terms: the terms below a node are a range of the sorted list. */
  private build(foldedTerms: readonly string[]): void {
    const order = foldedTerms.map((_, term) => term).filter((term) => foldedTerms[term] !== '');
    order.sort((a, b) => (foldedTerms[a]! < foldedTerms[b]! ? -1 : 1));
    let units = 1;
    for (const term of order) units += foldedTerms[term]!.length;
    const [firstChild, labels, termAt] = [
      new Int32Array(units + 1),
      new Uint16Array(units),
      new Int32Array(units),
    ];
    const [rangeFrom, rangeTo, depths] = [
      new Int32Array(units),
      new Int32Array(units),
      new Uint16Array(units),
    ];
    rangeTo[ROOT] = order.length;
    let nodes = 1;
    for (let node = 0; node < nodes; node++) {
      firstChild[node] = nodes;
      const depth = depths[node]!;
      const to = rangeTo[node]!;
      let from = rangeFrom[node]!;
      // The term that ends here sorts before all longer terms.
      const ends = from < to && foldedTerms[order[from]!]!.length === depth;
      termAt[node] = ends ? order[from++]! : NONE;
      while (from < to) {
        const unit = foldedTerms[order[from]!]!.charCodeAt(depth);
        let next = from + 1;
        while (next < to && foldedTerms[order[next]!]!.charCodeAt(depth) === unit) next += 1;
        labels[nodes] = unit;
        depths[nodes] = depth + 1;
        rangeFrom[nodes] = from;
        rangeTo[nodes] = next;
        if (node === ROOT) this.rootChildren[unit] = nodes;
        nodes += 1;
        from = next;
      }
    }
    firstChild[nodes] = nodes;
    this.firstChild = firstChild.slice(0, nodes + 1);
    this.labels = labels.slice(0, nodes);
    this.termAt = termAt.slice(0, nodes);
  }

  /** Sets the failure links in the order of the numbers, so that a parent comes before its children. */
  private link(): void {
    const nodes = this.labels.length;
    const { firstChild, labels, termAt } = this;
    this.fails = new Int32Array(nodes);
    this.shorter = new Int32Array(nodes).fill(NONE);
    for (let node = 0; node < nodes; node++) {
      for (let child = firstChild[node]!; child < firstChild[node + 1]!; child++) {
        const unit = labels[child]!;
        let fail = node === ROOT ? NONE : this.fails[node]!;
        let target = ROOT;
        while (fail !== NONE) {
          const next = fail === ROOT ? this.rootChildren[unit]! || NONE : this.childOf(fail, unit);
          if (next !== NONE) {
            target = next;
            break;
          }
          fail = fail === ROOT ? NONE : this.fails[fail]!;
        }
        this.fails[child] = target;
        this.shorter[child] = termAt[target]! === NONE ? this.shorter[target]! : target;
      }
    }
  }
}
