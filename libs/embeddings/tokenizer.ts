/** The pieces of the tokenizer with their log probabilities. The index of a piece is its token id. */
export type Vocabulary = readonly (readonly [piece: string, score: number])[];

interface Node {
  children: Map<number, Node>;
  /** -1 if no piece ends here. */
  id: number;
  score: number;
}

/** SentencePiece's character for the beginning of a word. */
const WORD_BEGIN = '\u2581';
/** The first ids are control symbols, which never match text. Unknown characters have the id 0. */
const RESERVED_IDS = 6;
const UNKNOWN = 0;
/**
 * Texts that are longer than this are cut, because the encoder reads at most 128 tokens, and few tokens have more than
 * five characters.
 */
const MAX_CHARACTERS = 1000;

/**
 * Splits a text into the most probable pieces and returns their ids, the same ids as the tokenizer of the original
 * model. This is SentencePiece's unigram model, decoded with the Viterbi algorithm.
 */
export class Tokenizer {
  private readonly root = newNode();

  constructor(vocabulary: Vocabulary) {
    vocabulary.forEach(([piece, score], id) => {
      if (id >= RESERVED_IDS) this.insert(piece, score, id);
    });
  }

  /**
   * Returns the token ids of a text, empty for a text of only whitespace. Any string is accepted: lone surrogates become
   * unknown characters.
   */
  encode(text: string): number[] {
    const symbols = symbolsOf(text);
    const best = new Float64Array(symbols.length + 1);
    const ids = new Int32Array(symbols.length + 1);
    const lengths = new Int32Array(symbols.length + 1).fill(1);
    for (let start = 0; start < symbols.length; start += 1) {
      let node = this.root;
      for (let end = start + 1; end <= symbols.length; end += 1) {
        const next = node.children.get(symbols[end - 1] ?? 0);
        if (!next) break;
        node = next;
        if (next.id < 0) continue;
        const score = next.score + (best[start] ?? 0);
        if (best[end] !== 0 && score < (best[end] ?? 0)) continue;
        best[end] = score;
        ids[end] = next.id;
        lengths[end] = end - start;
      }
    }
    return backwards(ids, lengths);
  }

  private insert(piece: string, score: number, id: number): void {
    let node = this.root;
    for (const symbol of codePointsOf(piece)) {
      let next = node.children.get(symbol);
      if (!next) node.children.set(symbol, (next = newNode()));
      node = next;
    }
    node.id = id;
    node.score = score;
  }
}

function newNode(): Node {
  return { children: new Map(), id: -1, score: 0 };
}

function symbolsOf(text: string): number[] {
  // Normalization can make a text eighteen times as long, so the text is cut before and after normalization.
  const cut = text.slice(0, MAX_CHARACTERS).toWellFormed().normalize('NFKC').slice(0, MAX_CHARACTERS);
  const words = cut.split(/\s+/u).filter(Boolean);
  return codePointsOf(words.map((word) => WORD_BEGIN + word).join(''));
}

function codePointsOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

/** Collects the best pieces, from the end of the text. Consecutive unknown characters become one token. */
function backwards(ids: Int32Array, lengths: Int32Array): number[] {
  const found: number[] = [];
  for (let end = ids.length - 1; end > 0; end -= lengths[end] ?? 1) {
    const id = ids[end] ?? UNKNOWN;
    if (id !== UNKNOWN || found.at(-1) !== UNKNOWN) found.push(id);
  }
  return found.reverse();
}
