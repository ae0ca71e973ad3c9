import { ownBrandOf, rankOf } from '../../apps/dashboard/pages/answers/rank.js';

const brand = (name: string, position: number | null) => ({
  ...{ brand: name, position },
  ...{ mentioned: position !== null, cited: false },
});

describe('rankOf', () => {
  it('returns the place of a brand among the named brands, and null for a brand that the answer does not name', () => {
    const brands = [brand('Acme', 40), brand('Globex', 7), brand('Initech', null), brand('Hooli', 40)];
    expect(['Acme', 'Globex', 'Initech', 'Hooli', 'Other'].map((one) => rankOf({ brands }, one))).toEqual([
      ...[2, 1, null, 2, null],
    ]);
  });
});

describe('ownBrandOf', () => {
  it.each([
    ['Globex', 'Globex'],
    ['Globex', 'globex in answers'],
    ['Acme', 'The best of all'],
  ])('returns the brand %s for the keyword %s', (expected, keyword) => {
    expect(ownBrandOf(keyword, ['Acme', 'Globex'])).toBe(expected);
  });

  it('returns an empty text without brands', () => {
    expect(ownBrandOf('Acme', [])).toBe('');
  });
});
