import fc from 'fast-check';
import { clauseFault } from './clause-faults.js';
import { OPERATORS } from './fields.js';
import { clause, subject } from './testing/rules.js';

const HOLDS: [field: string, op: string, value?: unknown][] = [
  ['text', 'contains', 'acme cloud'],
  ['text', 'contains', 'REACH acme'],
  ['text', 'not_contains', 'globex'],
  ['text', 'word', 'down'],
  ['text', 'word', 'café'],
  ['text', 'eq', 'acme  cloud is DOWN'],
  ['text', 'neq', 'down'],
  ['text', 'in', ['other', 'Acme Cloud is down']],
  ['text', 'exists'],
  ['title', 'contains', 'cloud is'],
  ['title', 'not_contains', 'noon'],
  ['body', 'word', 'noon'],
  ['body', 'not_contains', 'cloud'],
  ['author', 'eq', '@ada_l'],
  ['author', 'in', ['u/ADA_L']],
  ['author', 'contains', 'ada'],
  ['community', 'eq', 'r/saas'],
  ['community', 'exists', true],
  ['source', 'in', ['x', 'reddit']],
  ['kind', 'eq', 'post'],
  ['lang', 'neq', 'de'],
  ['url', 'contains', '/r/saas/'],
  ['url', 'word', 'acme'],
  ['sentiment', 'eq', 'negative'],
  ['sentimentScore', 'lt', -0.4],
  ['intent', 'in', ['complaint', 'churn_risk']],
  ['relevance', 'gte', 80],
  ['bucket', 'eq', 'price-negative'],
  ['bucket', 'contains', 'Price:'],
  ['vip', 'eq', true],
  ['vip', 'neq', false],
  ['price', 'lte', 12.5],
  ['price', 'in', ['12.50', '3']],
  ['previousPrice', 'exists', false],
  ['previousPrice', 'neq', 1],
  ['brand', 'eq', 'nike'],
  ['likes', 'gt', 9],
  ['replies', 'eq', 0],
  ['shares', 'exists', false],
  ['views', 'neq', 5],
  ['score', 'lt', 0],
  ['authorFollowers', 'gte', 1000],
  ['matchedTerm', 'eq', 'ACME CLOUD'],
  ['matchedTerm', 'not_contains', 'globex'],
  ['ai.product', 'eq', 'cloud'],
  ['ai.product', 'word', 'cloud'],
  ['ai.urgent', 'eq', true],
  ['ai.seats', 'gt', 2],
  ['ai.nothing', 'exists', false],
];
const FAILS: [field: string, op: string, value?: unknown][] = [
  ['text', 'contains', 'globex'],
  ['text', 'not_contains', 'acme'],
  ['text', 'word', 'acm'],
  ['text', 'eq', 'acme'],
  ['text', 'exists', false],
  ['title', 'contains', 'noon'],
  ['body', 'word', 'cloud'],
  // As in searches, a term is found inside an address only if the term contains a dot or a slash.
  ['body', 'word', 'status'],
  ['author', 'word', 'ada'],
  ['community', 'eq', 'saa'],
  ['url', 'word', 'acm'],
  ['vip', 'eq', false],
  ['price', 'gt', 12.5],
  ['shares', 'gt', 0],
  ['shares', 'lt', 5],
  ['shares', 'eq', 0],
  ['previousPrice', 'in', ['']],
  ['matchedTerm', 'neq', 'acme'],
  ['ai.seats', 'eq', '3'],
  ['ai.constructor', 'exists'],
  ['ai.nothing', 'eq', 'null'],
];

/** Each row contains its value, even if it is undefined: jest would pass a callback for a missing value. */
const withValue = ([field, op, value]: [string, string, unknown?]) => [field, op, value] as const;

describe('a clause', () => {
  it.each(HOLDS.map(withValue))('`%s %s %j` holds [rules.fields, rules.operators]', (field, op, value) => {
    expect(clause(field, op, value).holds).toBe(true);
  });

  it.each(FAILS.map(withValue))(
    '`%s %s %j` does not hold [rules.fields, rules.operators]',
    (field, op, value) => {
      expect(clause(field, op, value).holds).toBe(false);
    },
  );

  it('shows its value and the value of the item, with the text around a match [rules.why]', () => {
    expect(clause('likes', 'gt', 9)).toEqual({
      ...{ field: 'likes', op: 'gt', valueJson: '9', seenJson: '10', holds: true },
    });
    expect(clause('shares', 'exists')).toMatchObject({ valueJson: '', seenJson: '' });
    expect(JSON.parse(clause('body', 'contains', 'since NOON').seenJson)).toContain('since noon');
    const long = { ...subject, body: `${'x '.repeat(30_000)}needle${' y'.repeat(3000)}` };
    const seen = JSON.parse(clause('text', 'word', 'needle', long).seenJson) as string;
    expect(seen).toContain('needle');
    expect(seen.length).toBeLessThan(130);
  });

  it('shows the first ten of many values, and an ellipsis for the others [rules.why]', () => {
    const terms = (count: number) => Array.from({ length: count }, (_, n) => `acme ${n}`);
    const seen = (count: number) =>
      JSON.parse(
        clause('matchedTerm', 'eq', 'acme 10', { ...subject, matchedTerm: terms(count) }).seenJson,
      ) as string[];
    expect(seen(10)).toEqual(terms(10));
    expect(seen(11)).toEqual([...terms(10), '…']);
    const { valueJson } = clause('author', 'in', terms(11));
    expect(JSON.parse(valueJson)).toEqual([...terms(10), '…']);
  });

  it.each([
    [0.6, undefined, true],
    [0.599, undefined, false],
    [0.3, 0.3, true],
    [0.3, 0.31, false],
    [undefined, 0, false],
  ])(
    'compares the similarity %s with the threshold %s of `similar_to`: the result is %s [rules.similar-to]',
    (similarity, threshold, holds) => {
      const value = threshold === undefined ? 'an outage' : { text: 'an outage', threshold };
      const found = clause('text', 'similar_to', value, subject, similarity);
      expect([found.holds, found.seenJson]).toEqual([
        holds,
        similarity === undefined ? '' : String(similarity),
      ]);
    },
  );

  it('treats text as text, never as a pattern', () => {
    const body = { ...subject, title: '', body: 'price (a+)+$ [x] \\d' };
    expect(clause('text', 'contains', '(a+)+$', body).holds).toBe(true);
    expect(clause('text', 'contains', '.*', body).holds).toBe(false);
    const evil = { ...subject, body: 'a'.repeat(60_000) };
    expect(clause('text', 'word', '(a+)+$', evil).holds).toBe(false);
  });

  it('never throws, for random stored clauses and items', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('', '\u200b', '\ud800', '@', 'ß'),
    );
    const value = fc.oneof(
      text,
      fc.double(),
      fc.boolean(),
      fc.array(text, { maxLength: 3 }),
      fc.record({ text }),
    );
    const field = fc.oneof(fc.constantFrom(...Object.keys(subject), 'text', 'ai.product'), text);
    fc.assert(
      fc.property(field, fc.constantFrom(...OPERATORS), value, text, (name, op, given, body) => {
        const fits = op === 'in' ? Array.isArray(given) : op !== 'similar_to' || typeof given === 'string';
        fc.pre(fits);
        expect(typeof clause(name, op, given, { ...subject, body, author: body, brand: body }).holds).toBe(
          'boolean',
        );
      }),
    );
  });

  it('has opposite results with `eq` and `neq`, and with `contains` and `not_contains`, for random texts in five fields', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((one) => one.trim() !== '');
    fc.assert(
      fc.property(
        fc.constantFrom('text', 'author', 'url', 'bucket', 'brand'),
        text,
        text,
        (field, value, seen) => {
          const of = {
            ...subject,
            title: seen,
            body: seen + value,
            author: value,
            url: seen,
            brand: undefined,
          };
          const holds = (op: string) => clause(field, op, value, of).holds;
          expect(holds('neq')).toBe(!holds('eq'));
          fc.pre(/[\p{L}\p{N}]/u.test(value));
          expect(holds('not_contains')).toBe(!holds('contains'));
        },
      ),
    );
  });
});

it.each(['a', '😀'])(
  'a value of a clause has at most 1,000 characters, and %s counts as one character',
  (character) => {
    const faultOf = (length: number) =>
      clauseFault({ field: 'text', op: 'contains', value: character.repeat(length) }, undefined);
    expect(faultOf(1000)).toBeUndefined();
    expect(faultOf(1001)).toMatchObject({ message: 'must be at most 1000 characters' });
  },
);
