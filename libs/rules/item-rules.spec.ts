import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { EventSchema, RuleSchema, type Rule } from '#contracts';
import { itemRulesOf, type RulesOutcome } from './item-rules.js';
import { OPERATORS } from './fields.js';
import { ruleSubjectOf, type RuleSubject } from './subject.js';

const subject: RuleSubject = {
  source: 'reddit',
  kind: 'post',
  title: 'Acme Cloud is down',
  body: 'Our café cannot reach ACME since noon. See https://status.acme.com/now',
  url: 'https://www.reddit.com/r/SaaS/comments/1/acme_is_down',
  author: 'Ada_L',
  community: 'SaaS',
  lang: 'en',
  sentiment: 'negative',
  sentimentScore: -0.5,
  intent: 'complaint',
  relevance: 80,
  bucket: ['price-negative', 'Price: negative'],
  vip: true,
  price: 12.5,
  previousPrice: undefined,
  brand: 'Nike',
  likes: 10,
  replies: 0,
  shares: undefined,
  views: undefined,
  score: -3,
  authorFollowers: 1000,
  matchedTerm: ['acme', 'acme cloud'],
  ai: { product: 'Cloud', urgent: true, seats: 3, nothing: null },
};

let ids = 0;
const ruleOf = (more: object): Rule =>
  fromJson(RuleSchema, {
    ...{ id: `rule-${(ids += 1)}`, name: 'Rule', enabled: true, then: [{ type: 'webhook' }] },
    ...more,
  } as JsonValue);
const item = (...all: object[]) => ({ kind: 'item', all });
const run = (
  rules: Rule[],
  of: RuleSubject = subject,
  similarity: number | undefined = undefined,
): RulesOutcome => itemRulesOf(rules).outcomeOf(of, () => similarity);
const clause = (field: string, op: string, value?: unknown, of = subject, similarity?: number) => {
  const rule = ruleOf({ when: item({ field, op, ...(value !== undefined && { value }) }) });
  return run([rule], of, similarity).rules[0]!.clauses[0]!;
};

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
  // As in searches: not inside an address, unless the term has a dot or a slash.
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

/** Each row has its value, also if that is undefined: jest passes a callback for a missing one. */
const withValue = ([field, op, value]: [string, string, unknown?]) => [field, op, value] as const;

describe('a clause', () => {
  it.each(HOLDS.map(withValue))('%s %s %j holds [rules.fields, rules.operators]', (field, op, value) => {
    expect(clause(field, op, value).holds).toBe(true);
  });

  it.each(FAILS.map(withValue))(
    '%s %s %j does not hold [rules.fields, rules.operators]',
    (field, op, value) => {
      expect(clause(field, op, value).holds).toBe(false);
    },
  );

  it('shows its value and what it saw, with the text around a match [rules.why]', () => {
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

  it.each([
    [0.6, undefined, true],
    [0.599, undefined, false],
    [0.3, 0.3, true],
    [0.3, 0.31, false],
    [undefined, 0, false],
  ])(
    'similar_to with the similarity %s and the threshold %s holds: %s [rules.similar-to]',
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

  it('never throws for any stored clause and any item', () => {
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

  it('is the opposite with neq of eq, and with not_contains of contains, for every field and text', () => {
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

describe('the rules of a keyword', () => {
  const always = item({ field: 'kind', op: 'exists' });
  const never = item({ field: 'kind', op: 'eq', value: 'listing' });
  const webhook = { type: 'webhook' };

  it('run in order until one stops; what earlier rules did remains [rules.order, rules.stop, rules.mark, rules.notify]', () => {
    const rules = [
      ruleOf({ name: 'a', when: always, then: [{ type: 'mark', label: 'starred' }, webhook] }),
      ruleOf({ name: 'b', when: never, then: [{ type: 'stop' }] }),
      ruleOf({ name: 'c', when: always, then: [{ type: 'stop' }, { type: 'notify', channelIds: ['c1'] }] }),
      ruleOf({ name: 'd', when: always, then: [{ type: 'mark', label: 'hidden' }, { type: 'notify' }] }),
    ];
    const outcome = run(rules);
    expect(outcome.rules.map(({ name, fired, actions }) => [name, fired, actions])).toEqual([
      ['a', true, ['mark', 'webhook']],
      ['b', false, ['stop']],
      ['c', true, ['stop', 'notify']],
    ]);
    expect(outcome).toMatchObject({
      ...{ labels: ['starred'], stoppedBy: 'c', webhook: true },
      ...{ notifyChannelIds: ['c1'], notifyKeywordChannels: false },
    });
  });

  it('need all clauses of a rule', () => {
    const [yes, no] = [...always.all, ...never.all];
    expect(run([ruleOf({ when: item(yes!, no!) })]).rules[0]!.fired).toBe(false);
    expect(run([ruleOf({ when: item(yes!, yes!) })]).rules[0]!.fired).toBe(true);
  });

  it('leave out disabled rules, rules of another source and rules on windows', () => {
    const window = { kind: 'volume', window: '1h', min: 1, multiple: 1 };
    const rules = [
      ruleOf({ when: always, enabled: false }),
      ruleOf({ when: always, source: 'x' }),
      ruleOf({ when: window }),
      ruleOf({ name: 'own', when: always, source: 'reddit' }),
    ];
    expect(run(rules).rules.map(({ name }) => name)).toEqual(['own']);
  });

  it('notify all channels of the keyword when they name none [rules.notify]', () => {
    expect(run([ruleOf({ when: always, then: [{ type: 'notify' }] })])).toMatchObject({
      ...{ notifyKeywordChannels: true, notifyChannelIds: [], webhook: false, stoppedBy: undefined },
    });
  });
});

describe('what rules read of an event', () => {
  it('are the values of the item and of its readings, with price and brand of a listing and followers of an author [rules.fields]', () => {
    const event = create(EventSchema, {
      ...{ eventId: 'e', source: 'vinted', vip: true, lang: 'en', relevance: 0 },
      aiJson: '{"status":"completed","output":{"x":1}}',
      analysis: { sentiment: 'mixed', sentimentScore: 0, intent: 'other' },
      bucket: { key: 'k', label: 'L' },
      matched: {
        matches: [{ term: 'a' }, { term: 'a' }, { term: 'b' }],
        item: {
          ...{ kind: 'listing', title: 'T', text: 'B', url: 'https://u', author: 'ada' },
          engagement: { likes: 0 },
          bodyJson: '{"price":9.5,"previousPrice":12,"brand":"Nike","authorFollowers":7}',
        },
      },
    });
    expect(ruleSubjectOf(event)).toMatchObject({
      ...{ source: 'vinted', kind: 'listing', title: 'T', body: 'B', author: 'ada', community: undefined },
      ...{ lang: 'en', sentiment: 'mixed', sentimentScore: 0, intent: 'other', relevance: 0, vip: true },
      ...{ bucket: ['k', 'L'], price: 9.5, previousPrice: 12, brand: 'Nike', likes: 0, views: undefined },
      ...{ authorFollowers: 7, matchedTerm: ['a', 'b'], ai: { x: 1 } },
    });
  });
});

it('remembers no long texts of items, which would fill the memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = () => (collect(), process.memoryUsage().heapUsed);
  const rules = itemRulesOf([ruleOf({ when: item({ field: 'url', op: 'contains', value: 'acme' }) })]);
  const before = heap();
  for (let n = 0; n < 1_000; n += 1)
    rules.outcomeOf(
      { ...subject, url: Buffer.alloc(64 * 1024, `https://a.example/${n}/`).toString() },
      () => 0,
    );
  expect(heap() - before).toBeLessThan(20 * 1024 * 1024);
});
