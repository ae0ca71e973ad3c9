import { negated } from '../text/tokens.js';

/**
 * Words with their valences in two published lists, from -5 to 5. The valence is 0 if a list does not contain the word.
 */
export type Lexicon = ReadonlyMap<string, readonly [number, number]>;

/** Number of figures of `lexiconFigures`. */
export const LEXICON_FIGURES = 16;

const BOOSTERS = new Set(
  `absolutely amazingly completely considerably deeply enormously entirely especially exceptionally extremely fabulously
  fully greatly highly hugely incredibly insanely intensely literally more most particularly purely quite really remarkably
  so such super totally tremendously truly unbelievably unusually utterly very way`.split(/\s+/),
);
const DAMPERS = new Set(
  'almost barely hardly kinda less little marginally occasionally partly slightly somewhat sorta'.split(' '),
);

/**
 * Computes figures of a text: for each list the sums, counts and extremes of good and bad words. Then follow the
 * valence of the last word that a list contains, the emphasis and the length. All figures are from 0 to 1, except the
 * valence of the last word, which is from about -2 to 2.
 * @param tokens the tokens as they are written in the text
 * @param words the folded tokens (see `foldedToken`)
 */
export function lexiconFigures(
  lexicon: Lexicon,
  tokens: readonly string[],
  words: readonly string[],
): Float32Array {
  const figures = new Float32Array(LEXICON_FIGURES);
  const reversed = negated(words);
  let last = 0;
  let shouted = 0;
  let exclamations = 0;
  for (let at = 0; at < words.length; at++) {
    const token = tokens[at] ?? '';
    if (token.length > 2 && token !== words[at] && token === token.toUpperCase()) shouted += 1;
    if (token[0] === '!' || token[0] === '?') exclamations += token.length;
    const valences = lexicon.get(words[at] ?? '');
    if (valences === undefined) continue;
    const factor = strength(words[at - 1], words[at - 2]) * (reversed[at] ? -0.74 : 1);
    for (let list = 0; list < 2; list++) add(figures, list * 6, (valences[list] ?? 0) * factor);
    last = (valences[0] || valences[1]) * factor;
  }
  for (let list = 0; list < 2; list++) limitFigures(figures, list * 6);
  figures[12] = last / 4;
  figures[13] = Math.min(exclamations, 5) / 5;
  figures[14] = Math.min(shouted, 5) / 5;
  figures[15] = Math.min(words.length, 60) / 60;
  return figures;
}

function strength(before: string | undefined, twoBefore: string | undefined): number {
  let factor = 1;
  for (const [word, weight] of [
    [before, 1],
    [twoBefore, 0.9],
  ] as const) {
    if (word === undefined) continue;
    if (BOOSTERS.has(word)) factor += 0.25 * weight;
    if (DAMPERS.has(word)) factor -= 0.25 * weight;
  }
  return factor;
}

/**
 * Adds a valence to the figures of a list: sum of good words, sum of bad words, their two counts, the best and the
 * worst word.
 */
function add(figures: Float32Array, from: number, valence: number): void {
  if (valence === 0) return;
  const side = valence > 0 ? 0 : 1;
  figures[from + side] = (figures[from + side] ?? 0) + Math.abs(valence);
  figures[from + 2 + side] = (figures[from + 2 + side] ?? 0) + 1;
  figures[from + 4 + side] = Math.max(figures[from + 4 + side] ?? 0, Math.abs(valence));
}

/** Maps sums, counts and maxima to numbers from 0 to 1. */
function limitFigures(figures: Float32Array, from: number): void {
  for (let n = 0; n < 4; n++) {
    const value = figures[from + n] ?? 0;
    figures[from + n] = value / (value + (n < 2 ? 4 : 2));
  }
  for (let n = 4; n < 6; n++) figures[from + n] = Math.min((figures[from + n] ?? 0) / 4, 1);
}
