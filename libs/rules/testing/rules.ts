import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { RuleSchema, type Rule } from '#contracts';
import { itemRulesOf, type RulesOutcome } from '../item-rules.js';
import { type RuleSubject } from '../subject.js';

// Only for specs: an item, and rules that are applied to it.

/** The item of the specs. */
export const subject: RuleSubject = {
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

/** The number of rules that `ruleOf` has made. */
export let ids = 0;
/** Returns an enabled rule with a new id and the action `webhook`. */
export const ruleOf = (more: object): Rule =>
  fromJson(RuleSchema, {
    ...{ id: `rule-${(ids += 1)}`, name: 'Rule', enabled: true, then: [{ type: 'webhook' }] },
    ...more,
  } as JsonValue);
/** Returns the condition of an item rule. */
export const item = (...all: object[]) => ({ kind: 'item', all });
/** Applies rules to an item. */
export const run = (
  rules: Rule[],
  of: RuleSubject = subject,
  similarity: number | undefined = undefined,
): RulesOutcome => itemRulesOf(rules).outcomeOf(of, () => similarity);
/** Returns the result of one clause for an item. */
export const clause = (field: string, op: string, value?: unknown, of = subject, similarity?: number) => {
  const rule = ruleOf({ when: item({ field, op, ...(value !== undefined && { value }) }) });
  return run([rule], of, similarity).rules[0]!.clauses[0]!;
};
