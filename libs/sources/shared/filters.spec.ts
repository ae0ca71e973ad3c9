import { criteriaOf } from '../testing/fake-upstream.js';
import { countryOf, faultsOfSort, faultsOfTexts, filterTexts, sortOf } from './filters.js';

const LANG = { key: 'lang', wanted: 'a language', valid: (text: string) => /^[a-z]{2}$/.test(text), max: 2 };

describe('filters of a search', () => {
  it.each([
    ['en', ['en']],
    [
      [' en ', 'de', 'en', ''],
      ['en', 'de'],
    ],
    [7, []],
    [null, []],
  ])('are read from the value %j as the list %j', (lang, texts) => {
    expect(filterTexts(criteriaOf({ filters: { lang } }), 'lang')).toEqual(texts);
  });

  it.each([
    ['en', undefined],
    [['en', 'de'], undefined],
    [null, undefined],
    [7, 'must be a language'],
    [['en', 7], 'must be a language'],
    ['', 'must be a language'],
    [[], 'must be a language'],
    ['english', 'must be a language; "english" is not valid'],
    [['en', 'de', 'fr'], 'must have at most 2 values'],
  ])('have, for the value %j, the fault %j', (lang, message) => {
    const faults = message === undefined ? [] : [{ path: 'filters.lang', message }];
    expect(faultsOfTexts(criteriaOf({ filters: { lang } }), LANG)).toEqual(faults);
  });

  it('have no fault if they are absent', () => {
    expect(faultsOfTexts(criteriaOf({}), LANG)).toEqual([]);
  });
});

describe('the sort of a search', () => {
  it('is refused if the source does not support it, with a list of the supported sorts', () => {
    expect(faultsOfSort('x', criteriaOf({ sort: 'price' }), ['recency', 'relevancy'])).toEqual([
      { path: 'sort', message: 'x sorts by recency, relevancy, not by "price"' },
    ]);
    expect(faultsOfSort('tiktok', criteriaOf({ sort: 'price' }), [])).toEqual([
      { path: 'sort', message: 'tiktok has no sort orders: the newest items come first' },
    ]);
    expect(faultsOfSort('x', criteriaOf({ sort: 'recency' }), ['recency'])).toEqual([]);
  });

  it('counts as absent if it is blank', () => {
    expect(sortOf(criteriaOf({ sort: ' ' }))).toBeUndefined();
    expect(faultsOfSort('x', criteriaOf({}), ['recency'])).toEqual([]);
  });
});

describe('the market of a search', () => {
  it.each([
    ['de', 'DE'],
    ['GB', 'GB'],
    ['uk', 'GB'],
    ['global', undefined],
    ['', undefined],
    ['en-US', undefined],
  ])('turns the value %j into the country %j', (market, country) => {
    expect(countryOf(criteriaOf({ market }))).toBe(country);
  });
});
