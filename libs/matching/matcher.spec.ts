import fc from 'fast-check';
import { addressesIn } from './addresses.js';
import { compile, foldTerm, MAX_PLACES_PER_SEARCH, MAX_PLACES_PER_TERM } from './index.js';
import type { SearchTerms } from './index.js';
import { referenceContains, referenceWords } from './reference.js';
import { runs, term, text, unitsOf } from './testing/texts.js';

/**
 * Returns the expected positions: found in folded text and converted to the original. Of positions with the same start,
 * the longest comes first.
 */
function expectedPlaces(value: string, needle: string, mode: 'word' | 'contains'): [number, number][] {
  const { folded, starts, ends } = unitsOf(value);
  const find = mode === 'word' ? referenceWords : referenceContains;
  return find(folded, needle)
    .map(([from, to]): [number, number] => [starts[from]!, ends[to - 1]!])
    .sort(([oneStart, oneEnd], [start, end]) => oneStart - start || end - oneEnd);
}

describe('matching a post with all searches', () => {
  it.each(['word', 'contains'] as const)(
    'finds in mode %s exactly what the slow reference implementation finds',
    (mode) => {
      fc.assert(
        fc.property(fc.array(term, { minLength: 1, maxLength: 6 }), text, (terms, value) => {
          // The reference implementation does not detect addresses.
          fc.pre(addressesIn(value).length === 0);
          const searches = terms.map((each, i): SearchTerms => ({ key: `${i}`, mode, terms: [each] }));
          const found = new Map(
            compile(searches)
              .match({ title: '', text: value })
              .map(({ key, matches }) => [key, matches.map(({ start, end }) => [start, end])]),
          );
          terms.forEach((each, i) => {
            const needle = foldTerm(each);
            const places = needle === '' ? [] : expectedPlaces(value, needle, mode);
            expect(found.get(`${i}`) ?? []).toEqual(places);
          });
        }),
        // One character of the text can become two characters of folded text; the second one includes a mark
        // that is ignored.
        { ...runs, examples: [[['s'], 'ß\ufe0f']] },
      );
    },
  );

  it('reports a bounded number of places, and each term at least once', () => {
    const terms = Array.from({ length: 50 }, (_, n) => 'a'.repeat(n + 1));
    const [found] = compile([{ key: 'all', mode: 'contains', terms }]).match({
      title: '',
      text: 'a'.repeat(60_000),
    });
    expect(found?.matches.length).toBeLessThanOrEqual(MAX_PLACES_PER_SEARCH + terms.length);
    expect(new Set(found?.matches.map((place) => place.term)).size).toBe(terms.length);
  });

  it('searches the title of a parent post only in mode `platform`', () => {
    const modes = ['word', 'contains', 'platform'] as const;
    const matcher = compile(modes.map((mode) => ({ key: mode, mode, query: 'lamp', terms: ['acme'] })));
    const keysOf = (post: Parameters<typeof matcher.match>[0]) => matcher.match(post).map(({ key }) => key);
    const title = 'An acme lamp';
    expect(keysOf({ title, text: 'me too', titleOfParent: true })).toEqual(['platform']);
    expect(keysOf({ title, text: 'my acme', titleOfParent: true })).toEqual(['platform']);
    expect(keysOf({ title, text: 'my acme lamp', titleOfParent: true })).toEqual(modes);
    expect(keysOf({ title, text: 'me too' })).toEqual(modes);
    const places = new Map(
      matcher
        .match({ title, text: 'my acme lamp', titleOfParent: true })
        .map(({ key, matches }) => [key, matches.map(({ field }) => field)]),
    );
    expect(places.get('word')).toEqual(['text', 'text']);
    expect(places.get('platform')).toEqual(['title', 'title', 'text', 'text']);
  });

  it('gives each search the same result as without the other searches', () => {
    fc.assert(
      fc.property(fc.array(term, { minLength: 2, maxLength: 8 }), text, (terms, value) => {
        const searches = terms.map((each, i): SearchTerms => {
          return { key: `${i}`, mode: i % 2 ? 'word' : 'contains', terms: [each] };
        });
        const together = compile(searches).match({ title: value, text: value });
        const apart = searches.flatMap((search) => compile([search]).match({ title: value, text: value }));
        expect(together).toEqual(apart);
      }),
      { numRuns: 500 },
    );
  });

  it('matches no post if the query or all terms have only invisible characters', () => {
    const point = fc.constantFrom(
      '\u200b',
      '\u00ad',
      '\u2060',
      '\u200e',
      '\ufe0f',
      '\ufeff',
      'ـ',
      '\u200d',
      ' ',
    );
    const invisible = fc
      .array(point, { minLength: 1, maxLength: 5 })
      .map((points) => points.join(''))
      .filter((value) => value.trim() !== '' || value.includes('\ufeff'));
    const mode = fc.constantFrom('word', 'contains', 'platform');
    fc.assert(
      fc.property(invisible, mode, text, term, (blank, inMode, value, visible) => {
        const search = (more: object): SearchTerms => ({ key: 'k', mode: inMode, terms: [], ...more });
        const searches = [
          search({ query: blank }),
          search({ terms: [blank, blank] }),
          search({ query: blank, terms: [visible] }),
          search({ query: visible, terms: [blank] }),
        ];
        expect(compile(searches).match({ title: `${visible} ${blank}`, text: value })).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(['" "', '"   "', '"\u00a0"', '"\u200b "'])(
    'finds the term %j, whose quotes contain only spaces, only in a text with such quotes',
    (quotes) => {
      for (const mode of ['word', 'contains'] as const) {
        const matcher = compile([
          { key: 'query', mode, query: quotes, terms: [] },
          { key: 'terms', mode, terms: [quotes] },
          { key: 'both', mode, query: 'acme', terms: [quotes] },
        ]);
        expect(matcher.match({ title: 'Acme', text: 'It is "quoted".' })).toEqual([]);
        const keys = matcher.match({ title: 'Acme', text: 'It printed " ".' }).map(({ key }) => key);
        expect(keys).toEqual(['query', 'terms', 'both']);
      }
    },
  );

  it('requires the query and any one of the terms [keywords.query-and-terms]', () => {
    const matcher = compile([
      { key: 'query', mode: 'word', query: 'acme', terms: [] },
      { key: 'terms', mode: 'word', terms: ['rocket', 'anvil'] },
      { key: 'both', mode: 'word', query: 'acme', terms: ['rocket', 'anvil'] },
      { key: 'blank', mode: 'contains', query: '  ', terms: ['rock'] },
    ]);
    const keysFor = (title: string, body = '') => matcher.match({ title, text: body }).map(({ key }) => key);
    expect(keysFor('Acme')).toEqual(['query']);
    expect(keysFor('An anvil')).toEqual(['terms']);
    expect(keysFor('Acme', 'a rocket')).toEqual(['query', 'terms', 'both', 'blank']);
    expect(keysFor('nothing')).toEqual([]);
  });

  it('reports found terms as the search spells them, by position, those in the title first', () => {
    const matcher = compile([
      { key: 'a', mode: 'word', query: 'ACME', terms: ['acme', 'Rocket'] },
      { key: 'b', mode: 'word', terms: ['Acme', 'acme rocket'] },
    ]);
    expect(matcher.match({ title: 'My rocket', text: 'acme Rocket' })).toEqual([
      {
        key: 'a',
        matches: [
          { term: 'Rocket', field: 'title', start: 3, end: 9 },
          { term: 'ACME', field: 'text', start: 0, end: 4 },
          { term: 'Rocket', field: 'text', start: 5, end: 11 },
        ],
      },
      {
        key: 'b',
        matches: [
          { term: 'acme rocket', field: 'text', start: 0, end: 11 },
          { term: 'Acme', field: 'text', start: 0, end: 4 },
        ],
      },
    ]);
  });

  it('accepts every post in mode `platform`, or without a query and terms, and reports the terms that it found [keywords.match-platform]', () => {
    const matcher = compile([
      { key: 'trusted', mode: 'platform', query: 'acme', terms: [] },
      { key: 'all', mode: 'word', terms: [] },
    ]);
    expect(matcher.match({ title: '', text: 'no word of it' })).toEqual([
      { key: 'trusted', matches: [] },
      { key: 'all', matches: [] },
    ]);
    expect(matcher.match({ title: 'Acmeology', text: '' })[0]).toEqual({
      key: 'trusted',
      matches: [{ term: 'acme', field: 'title', start: 0, end: 4 }],
    });
  });

  it('matches user input literally, also with characters that patterns use', () => {
    for (const literal of [
      '(a+)+$',
      '.*',
      '[a-z]',
      'a|b',
      '^acme',
      '\\d+',
      '$&',
      '__proto__',
      'constructor',
    ]) {
      for (const mode of ['word', 'contains'] as const) {
        const matcher = compile([{ key: 'k', mode, terms: [literal] }]);
        expect(matcher.match({ title: '', text: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa! acme 42' })).toEqual([]);
        expect(matcher.match({ title: '', text: `x ${literal} y` })).toEqual([
          { key: 'k', matches: [{ term: literal, field: 'text', start: 2, end: 2 + literal.length }] },
        ]);
      }
    }
  });

  it('finds nothing in an empty post or without searches', () => {
    expect(compile([]).match({ title: 'a', text: 'b' })).toEqual([]);
    expect(compile([{ key: 'k', mode: 'word', terms: ['a'] }]).match({ title: '', text: '' })).toEqual([]);
  });

  it('reads 14 worst-case texts of 100,000 code units in less than 3 s in total', () => {
    const matcher = compile([
      { key: 'word', mode: 'word', terms: ['acme', '_', '-', 'a a', '!'] },
      { key: 'contains', mode: 'contains', terms: ['acme', 'aaaa', 'a-', '\u0301'] },
    ]);
    const began = performance.now();
    for (const piece of [
      'acme ',
      '_',
      '-',
      'a',
      'a-',
      '!',
      'e\u0301',
      '\u0301',
      '\u200b',
      'a@',
      'a.',
      'x://',
      '👩\u200d',
      '🇩',
    ]) {
      const post = piece.repeat(Math.ceil(100_000 / piece.length));
      for (const { matches } of matcher.match({ title: '', text: post })) {
        for (const { term } of matches.slice(0, 5)) {
          expect(matches.filter((match) => match.term === term).length).toBeLessThanOrEqual(
            MAX_PLACES_PER_TERM,
          );
        }
      }
    }
    // A step whose time is quadratic in the length of the text would take minutes.
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
