import fc from 'fast-check';
import { beginningOf } from './beginning-of.js';

describe('the beginning of a text', () => {
  it('is as long as possible within the given length, and never ends with a part of an emoji', () => {
    const characters = fc.array(fc.constantFrom('a', 'é', '😀', '👩‍👩‍👧‍👦', '🇩🇪', '中'), { maxLength: 20 });
    fc.assert(
      fc.property(characters, fc.integer({ min: 11, max: 60 }), (all, max) => {
        const text = all.join('');
        const fitting = all.map((_, n) => all.slice(0, n + 1).join('')).filter(({ length }) => length <= max);
        expect(beginningOf(text, max)).toBe(fitting.at(-1) ?? '');
      }),
    );
  });

  it('is cut inside a character only if the first character is longer than the given length', () => {
    const long = `a${'\u0301'.repeat(50)}`;
    expect(beginningOf(long, 10)).toBe(long.slice(0, 10));
    expect(beginningOf('😀😀', 1)).toBe('\uFFFD');
  });
});
