import fc from 'fast-check';
import { excerptOf } from './excerpt.js';

describe('the excerpt of a mention', () => {
  it('is the whole text if the text is short', () => {
    expect(excerptOf('acme is great', 0)).toBe('acme is great');
  });

  it('is cut between words, with an ellipsis where text is missing', () => {
    const text = `${'before '.repeat(60)}acme ${'after '.repeat(60)}`;
    const excerpt = excerptOf(text, text.indexOf('acme'));
    expect(excerpt).toMatch(/^…before .* acme after .*after…$/);
    expect(excerpt.length).toBeLessThanOrEqual(282);
  });

  it('contains the match in a text without spaces', () => {
    const text = `${'日本語'.repeat(200)}アクメ${'日本語'.repeat(200)}`;
    expect(excerptOf(text, text.indexOf('アクメ'))).toMatch(/^…[日本語]+アクメ[日本語]+…$/);
  });

  it('contains the match if the only space of the text comes after the match', () => {
    const text = `${'日本語'.repeat(200)}アクメ${'日本語'.repeat(10)} ${'日本語'.repeat(200)}`;
    expect(excerptOf(text, text.indexOf('アクメ'))).toContain('アクメ');
  });

  it('contains the beginning of the match, has at most 280 UTF-16 units and two ellipses, and splits no surrogate pair', () => {
    const parts = fc.array(fc.constantFrom('a', 'acme', ' ', '😀', '語'), { minLength: 280, maxLength: 900 });
    fc.assert(
      fc.property(parts, fc.nat(), (all, n) => {
        const matchStart = all.slice(0, n % all.length).join('').length;
        const marked = `${all.slice(0, n % all.length).join('')}#${all.slice(n % all.length).join('')}`;
        const excerpt = excerptOf(marked, matchStart);
        expect(excerpt).toContain('#');
        expect(excerpt.length).toBeLessThanOrEqual(282);
        expect(excerpt.isWellFormed()).toBe(true);
      }),
    );
  });
});
