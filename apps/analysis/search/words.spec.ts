import { searchTerms, searchWords } from './words.js';

describe('the words by which a search finds a text', () => {
  it.each([
    ['Does this lamp support batteries?', ['lamp', 'support', 'battery']],
    ['Where was his lamp', ['lamp']],
    ["Ada's lamps’ LAMP", ['ada', 'lamp']],
    ['Stories of buses and glass', ['story', 'buse', 'glass']],
    ['ＬＡＭＰ 灯泡好', ['lamp', '灯泡', '泡好']],
    ['', []],
  ])('are taken from "%s" in lower case and singular, without duplicates and stop words', (text, words) => {
    expect([...searchTerms(text)]).toEqual(words);
  });

  it('are at most 256, and the same words have the same hashes', () => {
    const text = Array.from({ length: 300 }, (_, n) => `word${n}`).join(' ');
    expect(searchTerms(text).size).toBe(256);
    expect(searchWords('a lamp')).toEqual(searchWords('Lamps'));
  });
});
