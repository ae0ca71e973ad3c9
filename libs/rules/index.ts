export { clauseFault, MAX_VALUE_CHARACTERS, MAX_VALUES, valueShapeFault } from './clause-faults.js';
export type { AgentField, ClauseFault, GivenClause } from './clause-faults.js';
export type { Similarity } from './clause.js';
export { OPERATORS } from './fields.js';
export { hasItemRules, itemRulesOf } from './item-rules.js';
export type { ClauseResult, ItemRules, RuleResult, RulesOutcome } from './item-rules.js';
export { agentOutputOf, followersOf, listingFacts, ruleSubjectOf } from './subject.js';
export type { RuleSubject } from './subject.js';
export type { TextField } from './texts.js';
