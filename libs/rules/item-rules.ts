import { compile, foldTerm, type FoundTerm, type Matcher } from '#matching';
import type { Rule } from '#contracts';
import {
  compileClause,
  type CompiledClause,
  type ReadItem,
  type Similarity,
  type StoredClause,
} from './clause.js';
import type { RuleSubject } from './subject.js';
import { textsOfItem, type TextField } from './texts.js';

/** The result of one clause. */
export interface ClauseResult {
  field: string;
  op: string;
  /** JSON; empty without a value. */
  valueJson: string;
  /** See `Seen.seenJson`. */
  seenJson: string;
  holds: boolean;
}

/** The result of one rule. */
export interface RuleResult {
  ruleId: string;
  name: string;
  /** True if the rule has clauses and all of them hold. */
  fired: boolean;
  clauses: ClauseResult[];
  /** The types of the rule's actions. */
  actions: readonly string[];
}

/** The result of a keyword's item rules for one item. */
export interface RulesOutcome {
  /** Every rule that was checked, in order, up to the fired rule with the action `stop`. */
  rules: RuleResult[];
  /** Labels that the fired rules set, sorted. */
  labels: string[];
  /** The name of the fired rule with the action `stop`; undefined if there is none. */
  stoppedBy: string | undefined;
  webhook: boolean;
  /** The channels that fired rules name. */
  notifyChannelIds: string[];
  /** True if a fired rule notifies without naming channels. */
  notifyKeywordChannels: boolean;
}

/** The item rules of a keyword, compiled. */
export interface ItemRules {
  /** Checks the rules in order. Takes time in proportion to the item's text and the number of clauses. */
  outcomeOf(subject: RuleSubject, similarity: Similarity): RulesOutcome;
  /** The arguments with which `similarity` can be called. */
  readonly similarTo: readonly { field: TextField; text: string }[];
}

interface CompiledRule {
  rule: Rule;
  clauses: CompiledClause[];
  actions: readonly string[];
}

// The rules of a keyword are the same array for all items of a check, and are never changed in place.
const compiled = new WeakMap<readonly Rule[], ItemRules>();

/**
 * Returns the enabled rules of the kind `item`. Rules on windows of time are left out: they do not concern a single
 * item.
 */
export function itemRulesOf(rules: readonly Rule[]): ItemRules {
  let known = compiled.get(rules);
  if (!known) compiled.set(rules, (known = compileRules(rules)));
  return known;
}

/** Returns true if the keyword has enabled rules that run on items. */
export function hasItemRules(rules: readonly Rule[]): boolean {
  return rules.some(isItemRule);
}

function isItemRule({ enabled, when }: Rule): boolean {
  return enabled && when?.['kind'] === 'item';
}

function compileRules(rules: readonly Rule[]): ItemRules {
  const clauses: CompiledClause[] = [];
  const all = rules.filter(isItemRule).map((rule): CompiledRule => {
    const storedClauses = (rule.when?.['all'] ?? []) as unknown as StoredClause[];
    const ruleClauses = storedClauses.map((clause, n) => compileClause(clause, clauses.length + n));
    clauses.push(...ruleClauses);
    return { rule, clauses: ruleClauses, actions: [...new Set(rule.then.map(({ type }) => type))] };
  });
  const matcher = matcherOf(clauses);
  return {
    similarTo: clauses.flatMap(({ similarTo }) => similarTo ?? []),
    outcomeOf(subject, similarity) {
      const item: ReadItem = {
        subject,
        found: foundIn(matcher, subject),
        textsOf: textsOfItem(subject),
        similarity,
        shown: new Map(),
      };
      return outcome(all, item);
    },
  };
}

/**
 * Compiles all terms in title and body together. So a text is read at most twice, for any number of clauses: once for
 * words, and once for parts of words.
 */
function matcherOf(clauses: readonly CompiledClause[]): Matcher | undefined {
  const searches = clauses.flatMap(({ term }, number) =>
    // A term of only spaces would match every text.
    term && foldTerm(term.value) !== ''
      ? [{ key: String(number), mode: term.mode, terms: [term.value] }]
      : [],
  );
  return searches.length === 0 ? undefined : compile(searches);
}

function foundIn(matcher: Matcher | undefined, { title, body }: RuleSubject): Map<number, FoundTerm[]> {
  const found = new Map<number, FoundTerm[]>();
  if (matcher)
    for (const { key, matches } of matcher.match({ title, text: body })) found.set(Number(key), matches);
  return found;
}

function outcome(all: readonly CompiledRule[], item: ReadItem): RulesOutcome {
  const rules: RuleResult[] = [];
  const fired: Rule[] = [];
  let stoppedBy: string | undefined;
  for (const { rule, clauses, actions } of all) {
    if (rule.source && rule.source !== item.subject.source) continue;
    const results = clauses.map((clause) => checked(clause, item));
    const holds = results.length > 0 && results.every((result) => result.holds);
    rules.push({ ruleId: rule.id, name: rule.name, fired: holds, clauses: results, actions });
    if (!holds) continue;
    fired.push(rule);
    if (actions.includes('stop')) {
      stoppedBy = rule.name;
      break;
    }
  }
  const done = fired.flatMap(({ then }) => then);
  const notified = done.filter(({ type }) => type === 'notify');
  return {
    rules,
    labels: [...new Set(done.flatMap(({ type, label }) => (type === 'mark' && label ? [label] : [])))].sort(),
    stoppedBy,
    webhook: done.some(({ type }) => type === 'webhook'),
    notifyChannelIds: [...new Set(notified.flatMap(({ channelIds }) => channelIds))],
    notifyKeywordChannels: notified.some(({ channelIds }) => channelIds.length === 0),
  };
}

function checked(clause: CompiledClause, item: ReadItem): ClauseResult {
  const { holds, seenJson } = clause.check(item);
  const { field, op, valueJson } = clause;
  return { field, op, valueJson, seenJson, holds };
}
