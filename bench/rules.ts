/**
 * Measures item rules without `similar_to`, and compares them with a loop in which each clause reads the text of the
 * item again. The figures are pairs of a rule and an item per second of processor time. Both programs compute the
 * outcome of every clause, and run in turns. Start it with `npm run -s build && node dist/bench/rules.js`. The data are
 * seeded, so only the times differ from run to run.
 */
import { create, fromJson, type JsonObject } from '@bufbuild/protobuf';
import { RuleSchema, type Rule } from '#contracts';
import { compile, type Matcher } from '#matching';
import { itemRulesOf, type RuleSubject } from '#rules';
import { helpWanted } from './harness.js';
import { makePosts, makeTerms, seeded, type Random } from './matching-data.js';

helpWanted(`
Usage: npm run bench:rules

Measures item rules in pairs of a rule and an item per second of processor time, compared with a loop in which each
clause reads the item itself.
`);

const ITEMS = 2_000;
const RULES = 20;
const ROUNDS = 7;
const TARGET = 200_000;
const CLAUSE_COUNTS = [1, 2, 3, 8];

type Clause = { field: string; op: string; value: string | number | boolean | string[] };

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

function clauseOf(random: Random, terms: readonly string[]): Clause {
  const kinds: (() => Clause)[] = [
    () => ({
      field: 'text',
      op: pick(random, ['contains', 'word', 'not_contains']),
      value: pick(random, terms),
    }),
    () => ({ field: pick(random, ['title', 'body']), op: 'word', value: pick(random, terms) }),
    () => ({ field: 'author', op: 'eq', value: `user${Math.floor(random() * 50)}` }),
    () => ({ field: 'community', op: 'in', value: ['SaaS', 'startups', 'webdev'] }),
    () => ({ field: 'likes', op: 'gte', value: Math.floor(random() * 100) }),
    () => ({ field: 'sentiment', op: 'eq', value: pick(random, ['positive', 'negative', 'neutral']) }),
    () => ({ field: 'relevance', op: 'gt', value: 40 }),
    () => ({ field: 'url', op: 'contains', value: '/comments/' }),
  ];
  return pick(random, kinds)();
}

function rulesWith(random: Random, terms: readonly string[], clauses: number): Rule[] {
  return Array.from({ length: RULES }, (_, n) =>
    create(RuleSchema, {
      ...fromJson(RuleSchema, {
        ...{ id: `rule-${n}`, name: `Rule ${n}`, enabled: true, then: [{ type: 'webhook' }] },
        when: {
          kind: 'item',
          all: Array.from({ length: clauses }, () => clauseOf(random, terms) as unknown as JsonObject),
        },
      }),
    }),
  );
}

function subjects(random: Random, terms: string[]): RuleSubject[] {
  return makePosts(random, ITEMS, terms).map(({ title, text }, n) => ({
    ...{ source: 'reddit', kind: 'post', title, body: text, url: `https://example.org/comments/${n}` },
    ...{ author: `User${Math.floor(random() * 50)}`, community: pick(random, ['SaaS', 'pics']), lang: 'en' },
    ...{ sentiment: pick(random, ['positive', 'neutral']), sentimentScore: 0.2, intent: 'other' },
    ...{
      relevance: Math.floor(random() * 100),
      bucket: [],
      vip: false,
      price: undefined,
      previousPrice: undefined,
    },
    ...{
      brand: undefined,
      likes: Math.floor(random() * 200),
      replies: 3,
      shares: undefined,
      views: undefined,
    },
    ...{ score: 4, authorFollowers: undefined, matchedTerm: ['acme'], ai: null },
  }));
}

/**
 * Returns a function that runs the rules in a loop, and returns the number of rules that fired. Each clause reads the
 * item itself, with a separate index of its term.
 */
function naive(rules: readonly Rule[]): (item: RuleSubject) => number {
  const all = rules.map(({ when }) => {
    const clauses = when?.['all'] as unknown as Clause[];
    return clauses.map((clause) => ({
      ...clause,
      matcher: compile([
        {
          key: '',
          mode: clause.op === 'word' ? 'word' : 'contains',
          terms: [typeof clause.value === 'string' ? clause.value : 'x'],
        },
      ]),
    }));
  });
  return (item) =>
    all.filter((clauses) => clauses.map((clause) => holds(clause, item)).every(Boolean)).length;
}

function holds({ field, op, value, matcher }: Clause & { matcher: Matcher }, item: RuleSubject): boolean {
  if (field === 'text' || field === 'title' || field === 'body') {
    const title = field === 'body' ? '' : item.title;
    const text = field === 'title' ? '' : item.body;
    return matcher.match({ title, text }).length > 0 !== (op === 'not_contains');
  }
  const seen = item[field as keyof RuleSubject] as string | number;
  const folded = (text: unknown) => String(text).toLowerCase();
  if (op === 'in') return (value as string[]).map(folded).includes(folded(seen));
  if (op === 'gte') return Number(seen) >= Number(value);
  if (op === 'gt') return Number(seen) > Number(value);
  if (op === 'contains') return folded(seen).includes(folded(value));
  return folded(seen) === folded(value);
}

/**
 * Returns seconds of processor time, with garbage collection. Other programs on the machine hardly change this time.
 */
function seconds(run: () => void): number {
  const began = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

const rate = (value: number) => Math.round(value).toLocaleString('en').padStart(12);
const noSimilarity = () => undefined;

console.log(
  `Item rules on Node ${process.version}: ${ITEMS} items, ${RULES} rules, medians of ${ROUNDS} rounds.`,
);
console.log('Pairs of a rule and an item per second of processor time, with the outcome of each clause.\n');
console.log('clauses a rule       rules       naive  rules/naive   fired');
for (const clauses of CLAUSE_COUNTS) {
  const random = seeded(42);
  const terms = makeTerms(random, 500);
  const [items, rules] = [subjects(random, terms), rulesWith(random, terms, clauses)];
  const compiled = itemRulesOf(rules);
  const loop = naive(rules);
  let [fired, firedInLoop] = [0, 0];
  const times: { ours: number; loop: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    [fired, firedInLoop] = [0, 0];
    const ours = seconds(() => {
      for (const item of items)
        fired += compiled.outcomeOf(item, noSimilarity).rules.filter((rule) => rule.fired).length;
    });
    const inLoop = seconds(() => {
      for (const item of items) firedInLoop += loop(item);
    });
    // Round 0 warms up.
    if (round > 0) times.push({ ours, loop: inLoop });
  }
  if (fired !== firedInLoop) throw new Error(`${fired} rules fired, ${firedInLoop} in the loop`);
  const pairs = ITEMS * RULES;
  const ours = pairs / median(times.map((one) => one.ours));
  const ratio = median(times.map((one) => one.loop / one.ours));
  const target = ours >= TARGET ? '' : `  missed: ${TARGET.toLocaleString('en')}`;
  console.log(
    `${String(clauses).padStart(14)}${rate(ours)}${rate(pairs / median(times.map((one) => one.loop)))}` +
      `${`×${ratio.toFixed(1)}`.padStart(13)}${String(fired).padStart(8)}${target}`,
  );
}
