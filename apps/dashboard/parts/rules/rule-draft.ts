import type { components } from '../../../../clients/typescript/src/index.js';
import { clauseOf, newClause, type AgentFields, type ClauseDraft } from './clauses.js';

type Schemas = components['schemas'];
/** An action of a rule. */
export type Action = Schemas['Action'];

/** A rule in the form. */
export interface RuleDraft {
  /** Undefined for a new rule. */
  id: string | undefined;
  /** Identifies the rule in the list of the page. */
  key: string;
  name: string;
  enabled: boolean;
  source: Schemas['Source'] | null;
  kind: 'item' | 'volume' | 'sentiment_shift';
  clauses: ClauseDraft[];
  window: '1h' | '24h';
  min: number;
  multiple: number;
  actions: Action['type'][];
  /** The labels that `mark` sets. */
  labels: NonNullable<Action['label']>[];
  /** Channels of `notify`; empty: all channels of the keyword. */
  channelIds: string[];
  /** True: `notify` also goes to all channels of the keyword, in addition to `channelIds`. */
  alsoKeywordChannels: boolean;
  /** The actions as they are stored, which are sent until the member changes them; undefined for a new rule. */
  storedActions: Action[] | undefined;
}

/** Returns a new rule without a name. */
export const newRule = (): RuleDraft => ({
  ...{ id: undefined, key: crypto.randomUUID(), name: '', enabled: true, source: null, kind: 'item' },
  ...{ clauses: [newClause()], window: '1h', min: 5, multiple: 3 },
  ...{ actions: ['mark'], labels: ['to_reply'], channelIds: [], alsoKeywordChannels: false },
  storedActions: undefined,
});

/** Returns the draft of a stored rule. */
export function draftOf(rule: Schemas['Keyword']['rules'][number]): RuleDraft {
  const { id, name, enabled, source, when, then } = rule;
  const draft: RuleDraft = {
    ...newRule(),
    ...{ id, key: id, name, enabled, source, kind: when.kind },
    ...choiceOf(then),
    storedActions: then,
  };
  if (when.kind === 'item') return { ...draft, clauses: when.all };
  return { ...draft, window: when.window, min: when.min, multiple: when.multiple };
}

/**
 * Returns the rule in the format of the API.
 * @param agentFields the fields of the keyword's agent step; undefined if the keyword has none
 */
export function ruleOf(draft: RuleDraft, agentFields: AgentFields | undefined): Schemas['Rule'] {
  const { id, name, enabled, source, kind, clauses, window, min, multiple } = draft;
  return {
    ...(id === undefined ? {} : { id }),
    ...{ name, enabled, source },
    when:
      kind === 'item'
        ? { kind, all: clauses.map((clause) => clauseOf(clause, agentFields)) }
        : { kind, window, min, multiple },
    then: actionsOf(draft),
  };
}

/** Maximum number of actions in a rule. The API refuses more. */
export const MAX_ACTIONS = 4;
/** Maximum number of channels in an action. The API refuses more, so a rule with more channels has several actions. */
export const MAX_CHANNELS = 5;

/**
 * Returns the number of actions that the API gets. Each label is one action, and `MAX_CHANNELS` channels share one
 * action. `mark` without labels counts as one action too, because it still needs a label.
 */
export function actionCountOf(draft: RuleDraft): number {
  const lacksLabel = draft.actions.includes('mark') && draft.labels.length === 0;
  return actionsOf(draft).length + (lacksLabel ? 1 : 0);
}

/**
 * Returns the rule with these actions. An action keeps its labels or channels while it is not chosen. If an action that
 * is chosen again would exceed the maximum, some of its labels or channels are dropped, but never the action itself.
 */
export function withActions(draft: RuleDraft, actions: RuleDraft['actions']): RuleDraft {
  const changed = { ...draft, actions };
  const excess = actionCountOf(changed) - MAX_ACTIONS;
  const isNew = (type: Action['type']) => actions.includes(type) && !draft.actions.includes(type);
  if (excess > 0 && isNew('mark'))
    return { ...changed, labels: draft.labels.slice(0, Math.max(1, draft.labels.length - excess)) };
  if (excess > 0 && isNew('notify')) {
    const groups = Math.ceil(draft.channelIds.length / MAX_CHANNELS);
    const kept = Math.max(1, groups - (draft.alsoKeywordChannels ? excess - 1 : excess));
    const channelIds = draft.channelIds.slice(0, kept * MAX_CHANNELS);
    return { ...changed, alsoKeywordChannels: false, channelIds };
  }
  return changed;
}

/** Returns whether the action is chosen, or can be chosen without exceeding the maximum. */
export function isOffered(draft: RuleDraft, type: Action['type']): boolean {
  const { actions } = draft;
  return actions.includes(type) || actionCountOf(withActions(draft, [...actions, type])) <= MAX_ACTIONS;
}

/**
 * Returns the actions for the API: the stored actions until the member changes them. The form joins all channels and
 * all labels, so the stored actions cannot be derived from the form.
 */
function actionsOf(draft: RuleDraft): Action[] {
  const { storedActions } = draft;
  const isUnchanged = storedActions && isSameChoice(draft, choiceOf(storedActions));
  return isUnchanged ? storedActions : draft.actions.flatMap((type) => actionsOfType(type, draft));
}

function actionsOfType(
  type: Action['type'],
  { labels, channelIds, alsoKeywordChannels }: RuleDraft,
): Action[] {
  if (type === 'mark') return labels.map((label) => ({ type, label }));
  if (type !== 'notify' || channelIds.length === 0) return [{ type }];
  const groups = Array.from({ length: Math.ceil(channelIds.length / MAX_CHANNELS) }, (_, n) => ({
    ...{ type, channelIds: channelIds.slice(n * MAX_CHANNELS, (n + 1) * MAX_CHANNELS) },
  }));
  return [...groups, ...(alsoKeywordChannels ? [{ type }] : [])];
}

/** The part of the form that describes the actions. */
type Choice = Pick<RuleDraft, 'actions' | 'labels' | 'channelIds' | 'alsoKeywordChannels'>;

function choiceOf(then: readonly Action[]): Choice {
  const notified = then.filter(({ type }) => type === 'notify');
  const channelIds = notified.flatMap((one) => one.channelIds ?? []);
  return {
    actions: [...new Set(then.map(({ type }) => type))],
    labels: then.flatMap(({ type, label }) => (type === 'mark' ? (label ?? []) : [])),
    channelIds,
    // An action without channels notifies all channels of the keyword.
    alsoKeywordChannels: channelIds.length > 0 && notified.some((one) => !one.channelIds?.length),
  };
}

function isSameChoice(one: Choice, other: Choice): boolean {
  const parts = ({ actions, labels, channelIds, alsoKeywordChannels }: Choice) =>
    JSON.stringify([actions, labels, channelIds, alsoKeywordChannels]);
  return parts(one) === parts(other);
}
