import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { CriteriaSchema } from '#contracts';
import { criteriaHash, criteriaJson, resolveCriteria } from './criteria.js';

type Init = MessageInitShape<typeof CriteriaSchema>;

const hash = (init: Init) => criteriaHash('reddit', create(CriteriaSchema, init));
const word = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8})?$/);
const terms = fc.uniqueArray(word, { minLength: 2, maxLength: 6 });
const filters = fc.dictionary(
  fc.stringMatching(/^[a-z_]{1,6}$/),
  fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())),
  { maxKeys: 5 },
);

const BASE: Init = {
  market: 'global',
  query: 'acme',
  terms: ['a', 'b'],
  match: 'word',
  sort: 'new',
  priceMin: 1,
  priceMax: 2,
  filters: { subreddit: 'x' },
  repliesTo: 'acme',
};

describe('the identity of a search', () => {
  it('is SHA-256 in hex, and does not change between versions [keywords.hash]', () => {
    // Stored hashes depend on the algorithm. A change of the algorithm restarts every search.
    expect(hash({ market: 'global', query: 'acme' })).toBe(
      '69ccaa2581ab6633321eee3376e8b0351d389980547cd5f56b284582b086f016',
    );
    expect(hash(BASE)).toBe('3b8f3986bbaf8b2f712f2f59692c16eb2a538b8aba1a2d41c2c2aa685deadd6e');
  });

  it('does not depend on the order, case, surrounding space and repetition of terms [keywords.hash]', () => {
    fc.assert(
      fc.property(terms, fc.array(fc.nat()), (given, seed) => {
        const shuffled = given
          .map((term, n) => ({ term, key: seed[n] ?? n }))
          .sort((a, b) => a.key - b.key)
          .map(({ term }, n) => (n % 2 ? ` ${term.toUpperCase()}  ` : term));
        expect(hash({ ...BASE, terms: [...shuffled, given[0] ?? ''] })).toBe(hash({ ...BASE, terms: given }));
      }),
    );
  });

  it('does not depend on the order of the keys of filters', () => {
    fc.assert(
      fc.property(filters, (given) => {
        const reversed = Object.fromEntries(Object.entries(given).reverse());
        expect(hash({ ...BASE, filters: reversed })).toBe(hash({ ...BASE, filters: given }));
      }),
    );
  });

  it('does not depend on paging, on space around the query, or on an explicit default match', () => {
    expect(hash({ ...BASE, page: 3, perPage: 10, query: '  acme ' })).toBe(hash(BASE));
    expect(hash({ ...BASE, match: undefined })).toBe(hash({ ...BASE, match: 'word' }));
  });

  it('differs for other terms', () => {
    fc.assert(
      fc.property(terms, word, (given, more) => {
        fc.pre(!given.includes(more));
        expect(hash({ ...BASE, terms: [...given, more] })).not.toBe(hash({ ...BASE, terms: given }));
      }),
    );
  });

  it.each<[string, Init]>([
    ['market', { market: 'de' }],
    ['query', { query: 'acme corp' }],
    ['match', { match: 'contains' }],
    ['sort', { sort: 'top' }],
    ['priceMin', { priceMin: 0 }],
    ['priceMax', { priceMax: undefined }],
    ['filters', { filters: { subreddit: 'y' } }],
    ['the case of a filter’s value', { filters: { subreddit: 'X' } }],
    ['repliesTo', { repliesTo: 'other' }],
    ['filters to none', { filters: undefined }],
  ])('differs after a change of %s [keywords.hash]', (_, change) => {
    expect(hash({ ...BASE, ...change })).not.toBe(hash(BASE));
  });

  it('differs on another source', () => {
    const criteria = create(CriteriaSchema, BASE);
    expect(criteriaHash('rss', criteria)).not.toBe(criteriaHash('reddit', criteria));
  });

  it('is the same after the criteria were stored as JSON and read again', () => {
    fc.assert(
      fc.property(filters, terms, (given, words) => {
        const criteria = create(CriteriaSchema, { ...BASE, filters: given, terms: words });
        const read = create(CriteriaSchema, criteriaJson(criteria) as Init);
        expect(criteriaHash('reddit', read)).toBe(criteriaHash('reddit', criteria));
      }),
    );
  });
});

describe('the criteria of a search', () => {
  const resolve = (global: Init, overrides?: Init) =>
    criteriaJson(
      resolveCriteria(create(CriteriaSchema, global), overrides && create(CriteriaSchema, overrides)),
    );

  it('are the global criteria if nothing is overridden [keywords.default-search]', () => {
    expect(resolve(BASE)).toEqual(BASE);
    expect(resolve(BASE, {})).toEqual(BASE);
  });

  it('have every key of the overrides, and the other keys of the global criteria [keywords.overrides]', () => {
    const keys = ['market', 'query', 'match', 'sort', 'repliesTo'] as const;
    fc.assert(
      fc.property(fc.subarray([...keys]), (chosen) => {
        const overrides = Object.fromEntries(chosen.map((key) => [key, 'other']));
        expect(resolve(BASE, overrides)).toEqual({ ...BASE, ...overrides });
      }),
    );
  });

  it('keep an override that is 0 or empty', () => {
    expect(resolve(BASE, { priceMin: 0, query: '', sort: '' })).toEqual({
      ...BASE,
      priceMin: 0,
      query: '',
      sort: '',
    });
  });

  it('use the terms of the overrides instead of the global terms', () => {
    expect(resolve(BASE, { terms: ['c', 'd'] })).toEqual({ ...BASE, terms: ['c', 'd'] });
  });

  it('have filters merged key by key [keywords.overrides]', () => {
    fc.assert(
      fc.property(filters, filters, (global, overrides) => {
        const resolved = resolve({ ...BASE, filters: global }, { filters: overrides }) as {
          filters: JsonObject;
        };
        expect(resolved.filters).toEqual({ ...global, ...overrides });
      }),
    );
    expect(resolve({ market: 'x', filters: { a: { b: 1 } } }, { filters: { a: { c: 2 } } })).toEqual({
      market: 'x',
      filters: { a: { c: 2 } },
    });
  });

  it('can be changed without changing the global criteria', () => {
    const global = create(CriteriaSchema, BASE);
    const resolved = resolveCriteria(
      global,
      create(CriteriaSchema, { filters: { more: 1 }, terms: ['x', 'y'] }),
    );
    resolved.terms.push('z');
    if (resolved.filters) resolved.filters.subreddit = 'changed';
    expect(criteriaJson(global)).toEqual(BASE);
  });
});
