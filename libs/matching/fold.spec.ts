import fc from 'fast-check';
import { foldTerm } from './index.js';
import { referenceFold } from './reference.js';
import { text, runs, unitsOf } from './testing/texts.js';

describe('folding', () => {
  it('gives the same result as the slow reference implementation', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(unitsOf(value).folded).toBe(referenceFold(value));
      }),
      runs,
    );
  });

  it('is the same for composed, decomposed and already folded text', () => {
    fc.assert(
      fc.property(text, (value) => {
        const folded = foldTerm(value);
        expect(foldTerm(value.normalize('NFD'))).toBe(foldTerm(value.normalize('NFC')));
        expect(foldTerm(folded)).toBe(folded);
      }),
      runs,
    );
  });

  it('maps every folded unit to its original characters, in order', () => {
    fc.assert(
      fc.property(text, (value) => {
        const { folded, starts, ends } = unitsOf(value);
        for (let i = 0; i < folded.length; i++) {
          expect(starts[i]! < ends[i]! && ends[i]! <= value.length).toBe(true);
          if (i > 0) expect(starts[i]! >= starts[i - 1]!).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
