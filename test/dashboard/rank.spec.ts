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
    ['globex in answers', 'Globex'],
    ['The best of all', 'Acme'],
  ])('returns for the keyword %s the brand %s', (keyword, expected) => {
    expect(ownBrandOf(keyword, ['Acme', 'Globex'])).toBe(expected);
  });

  it('is empty without brands', () => {
    expect(ownBrandOf('Acme', [])).toBe('');
  });
});
