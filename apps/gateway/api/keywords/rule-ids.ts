import { canonicalize } from 'json-canonicalize';
import type { Rule } from '#contracts';

/**
 * Gives a rule without an id the id of an earlier rule, so that the mentions and alerts of this rule stay together.
 * First looks for an earlier rule with the same name and condition, then for the only earlier rule with the same name
 * and kind of condition. If there is neither, the rule is new, and stays without an id.
 * @param rules the new rules; this function sets their ids
 */
export function keepRuleIds(rules: readonly Rule[], earlier: readonly Rule[]): void {
  const free = () => earlier.filter(({ id }) => !rules.some((rule) => rule.id === id));
  const open = () => rules.filter(({ id }) => id === '');
  for (const rule of open()) rule.id = free().find((one) => hasSameCondition(one, rule))?.id ?? '';
  for (const rule of open()) {
    const [only, ...others] = free().filter((one) => hasSameKind(one, rule));
    const isOnly = others.length === 0 && open().filter((one) => hasSameKind(one, rule)).length === 1;
    if (only && isOnly) rule.id = only.id;
  }
}

function hasSameCondition(a: Rule, b: Rule): boolean {
  return a.name === b.name && canonicalize(a.when) === canonicalize(b.when);
}

function hasSameKind(a: Rule, b: Rule): boolean {
  return a.name === b.name && a.when?.['kind'] === b.when?.['kind'];
}
