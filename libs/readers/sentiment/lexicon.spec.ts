import { lexiconOf } from '../weights.js';
import { lexiconFigures } from './lexicon.js';
import { tokenise } from './features.js';

const lexicon = lexiconOf(['bad -2 -3', 'good 2 3']);
const figures = (text: string) => {
  const { written, folded } = tokenise(text);
  return lexiconFigures(lexicon, written, folded);
};

describe('the lexicon', () => {
  it('does not treat property names of JavaScript objects as known words', () => {
    const read = figures('constructor __proto__ toString hasOwnProperty valueOf');
    expect([...read].every(Number.isFinite)).toBe(true);
    expect([...read.subarray(0, 13)].every((figure) => figure === 0)).toBe(true);
  });

  it('counts a negated good word as a bad word', () => {
    expect(figures('not good')[1]).toBeGreaterThan(0);
    expect(figures('not good')[0]).toBe(0);
  });

  it('ends a negation at the end of the clause', () => {
    expect(figures('not now, good')[1]).toBe(0);
  });

  it('gives a word more weight after "very"', () => {
    expect(figures('very good')[0]).toBeGreaterThan(figures('good')[0] ?? 0);
  });
});
