import fc from 'fast-check';
import { coBrandsOf } from './co-brands.js';

const brands = (text: string, listed: string[] = []) =>
  coBrandsOf({ title: '', text, names: ['Acme'], listed });

describe('brands other than the subject', () => {
  it.each([
    ['Acme vs Globex: which one?', ['Globex']],
    ['We moved from Globex to Acme', ['Globex']],
    ['\u0130stanbul, \u0130zmir: Acme vs Globex', ['Globex']],
    ['I prefer Acme over Initech', ['Initech']],
    ['Should I take Acme or Globex Cloud?', ['Globex Cloud']],
    ['Acme, Globex, Initech and Hooli all raised prices', ['Globex', 'Initech', 'Hooli']],
    ['Good tools:\n1. **Globex**: cheap\n2. **Acme**: solid\n3. Initech (new)', ['Globex', 'Initech']],
    ['- Globex – for teams\n- Hooli – for one person', ['Globex', 'Hooli']],
  ])('are found in %j', (text, found) => {
    expect(brands(text)).toEqual(found);
  });

  it.each([
    'Acme is great. The weather is nice.',
    'I like Acme and the people there',
    'Acme or not, I stay',
    'The new Acme Cloud and Acme Pro are here',
    'In March Acme opened an office',
    'Acme vs Globexxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'XxxxxxxxxxxxxxxxxxxxxxxxxxxxxGlobex vs Acme',
  ])('are not found in %j', (text) => {
    expect(brands(text)).toEqual([]);
  });

  it('include the listed brands wherever these occur as whole words, in upper or lower case', () => {
    expect(brands('acme is fine, globex is not; initechs neither', ['Globex', 'Initech'])).toEqual([
      'Globex',
    ]);
    expect(brands('Visit ΟΔΥΣΣΕΑΣ.GR, not Acme', ['Οδυσσεας'])).toEqual(['Οδυσσεας']);
  });

  it('include listed brands with İ in any form of this letter: İ, i + U+0307, I + U+0307 and i', () => {
    const forms = ['\u0130stikbal', 'i\u0307stikbal', 'I\u0307stikbal', 'istikbal'];
    for (const listed of forms)
      for (const form of forms) expect(brands(`acme is fine, ${form} is not`, [listed])).toEqual([listed]);
  });

  it('are found after a text with i + U+0307', () => {
    expect(brands('i\u0307zmi\u0307r: Acme vs Globex')).toEqual(['Globex']);
  });

  it('are found beside a name of the subject that was entered with spaces around it', () => {
    expect(coBrandsOf({ title: '', text: 'Acme vs Globex', names: [' Acme '], listed: [] })).toEqual([
      'Globex',
    ]);
  });

  it('are listed without duplicates, in the spelling of their first occurrence', () => {
    expect(brands('Acme vs Globex. Really: Acme vs GLOBEX')).toEqual(['Globex']);
  });

  it('are at most 20 for generated texts, and never the subject', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2000 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        (text, name) => {
          const found = coBrandsOf({ title: name, text, names: [name], listed: [name] });
          expect(found.length).toBeLessThanOrEqual(20);
          expect(found.map((one) => one.toLowerCase())).not.toContain(name.trim().toLowerCase());
        },
      ),
    );
  });

  it('are all names that follow the subject in a list, and the name directly before the subject', () => {
    const names = ['Acme', 'Initech', 'Globex', 'Hooli', 'Umbrella', 'Soylent'];
    const lists = fc.array(
      fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(', ', ' and ', ' vs ')), {
        minLength: 1,
        maxLength: 8,
      }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(lists, (given) => {
        const text = given
          .map((list) => list.map(([name, link], n) => `${n > 0 ? link : ''}${name}`).join(''))
          .join('. ');
        const own = ['Acme', 'Initech'];
        const expected = given.flatMap((list) =>
          list.flatMap(([name], n) => {
            const isAfter = list.slice(0, n).some(([other]) => own.includes(other));
            const isBefore = own.includes(list[n + 1]?.[0] ?? '');
            return !own.includes(name) && (isAfter || isBefore) ? [name] : [];
          }),
        );
        const found = coBrandsOf({ title: '', text, names: own, listed: [] });
        expect([...found].sort()).toEqual([...new Set(expected)].sort());
      }),
    );
  });

  it('are searched in a list of 3,000 names without reading the rest of the list for each name', () => {
    const names = Array.from({ length: 10 }, (_, n) => `Acme${String.fromCharCode(97 + n)}`);
    const text = `${names.join(', ')}, `.repeat(300);
    const matched = jest.spyOn(RegExp.prototype, 'exec');
    const found = coBrandsOf({ title: '', text, names, listed: [] });
    const times = matched.mock.calls.length;
    matched.mockRestore();
    expect(found).toEqual([]);
    // Each name needs a few expressions.
    expect(times).toBeLessThan(10 * 3_000);
  });

  it.each([
    ['names in a row', 'Acme, '.repeat(3_000)],
    ['one long word', `Acme, ${'A'.repeat(19_000)}`],
    ['entries of a list', '- A '.repeat(4_500)],
  ])('are at most one in almost 20 KB of hostile text that consists of %s', (_, hostile) => {
    expect(brands(hostile).length).toBeLessThanOrEqual(1);
  });
});
