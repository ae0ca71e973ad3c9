import type { components } from '../../../../clients/typescript/src/index.js';

type Schemas = components['schemas'];
/** A clause of a rule, as the API expects it. */
export type Clause = Schemas['Clause'];
/** The operator of a clause. */
export type Operator = Clause['op'];
/** An action of a rule. */
export type Action = Schemas['Action'];

/** A rule in the form. The values of clauses are texts; `ruleOf` converts them. */
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
}

/** A clause in the form. */
export interface ClauseDraft {
  field: string;
  op: Operator;
  value: string;
  /** For `similar_to`. */
  threshold: number;
}

type FieldType = 'text' | 'name' | 'number' | 'boolean';

const NAME_OPERATORS: readonly Operator[] = ['eq', 'neq', 'contains', 'not_contains', 'word', 'in', 'exists'];
const OPERATORS_OF: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: ['contains', 'not_contains', 'word', 'similar_to', 'eq', 'neq', 'in', 'exists'],
  name: NAME_OPERATORS,
  number: ['gte', 'gt', 'lte', 'lt', 'eq', 'neq', 'in', 'exists'],
  boolean: ['eq', 'neq', 'exists'],
};

/** The words for each operator. */
export const OPERATOR_NAMES: Readonly<Record<Operator, string>> = {
  eq: 'is',
  neq: 'is not',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  contains: 'contains',
  not_contains: 'does not contain',
  word: 'contains the word',
  in: 'is one of',
  exists: 'exists',
  similar_to: 'means something like',
};

/** The fields of a mention, in groups. The fields of an agent step are written as `ai.<field>`. */
export const FIELDS: readonly { group: string; items: Readonly<Record<string, FieldType>> }[] = [
  {
    group: 'Text',
    items: { text: 'text', title: 'text', body: 'text', matchedTerm: 'name', lang: 'name', url: 'name' },
  },
  {
    group: 'Readings',
    items: {
      sentiment: 'name',
      sentimentScore: 'number',
      intent: 'name',
      relevance: 'number',
      bucket: 'name',
    },
  },
  {
    group: 'Where and who',
    items: {
      source: 'name',
      kind: 'name',
      author: 'name',
      community: 'name',
      vip: 'boolean',
      authorFollowers: 'number',
    },
  },
  {
    group: 'Engagement',
    items: { likes: 'number', replies: 'number', shares: 'number', views: 'number', score: 'number' },
  },
  { group: 'Vinted', items: { price: 'number', previousPrice: 'number', brand: 'name' } },
];

/**
 * Returns the type of a field. Fields that are not in `FIELDS`, such as fields of an agent step, have the type `name`.
 */
export function typeOf(field: string): FieldType {
  return FIELDS.map(({ items }) => items[field]).find((type) => type !== undefined) ?? 'name';
}

/**
 * Returns the operators that are possible for a field. The type of an agent step's field is not known here, so such a
 * field gets the operators of names and of numbers.
 */
export function operatorsOf(field: string): readonly Operator[] {
  return field.startsWith('ai.')
    ? [...NAME_OPERATORS, 'gte', 'gt', 'lte', 'lt']
    : OPERATORS_OF[typeOf(field)];
}

/** Returns a new clause without a value. */
export const newClause = (): ClauseDraft => ({ field: 'text', op: 'contains', value: '', threshold: 0.6 });

/** Returns a new rule without a name. */
export const newRule = (): RuleDraft => ({
  ...{ id: undefined, key: crypto.randomUUID(), name: '', enabled: true, source: null, kind: 'item' },
  ...{ clauses: [newClause()], window: '1h', min: 5, multiple: 3 },
  ...{ actions: ['mark'], labels: ['to_reply'], channelIds: [], alsoKeywordChannels: false },
});

/** Returns the draft of a stored rule. */
export function draftOf(rule: Schemas['Keyword']['rules'][number]): RuleDraft {
  const { when, then } = rule;
  const channelIds = then.flatMap((one) => one.channelIds ?? []);
  const draft: RuleDraft = {
    ...newRule(),
    ...{
      id: rule.id,
      key: rule.id,
      name: rule.name,
      enabled: rule.enabled,
      source: rule.source,
      kind: when.kind,
    },
    actions: [...new Set(then.map(({ type }) => type))],
    labels: then.flatMap(({ label }) => label ?? []),
    channelIds,
    // An action without channels notifies all channels of the keyword.
    alsoKeywordChannels:
      channelIds.length > 0 && then.some((one) => one.type === 'notify' && !one.channelIds?.length),
  };
  if (when.kind === 'item') return { ...draft, clauses: when.all.map(clauseDraftOf) };
  return { ...draft, window: when.window, min: when.min, multiple: when.multiple };
}

function clauseDraftOf({ field, op, value }: Clause): ClauseDraft {
  const draft = { ...newClause(), field, op };
  if (value === undefined || value === null) return draft;
  if (Array.isArray(value)) return { ...draft, value: value.join(', ') };
  if (typeof value === 'object') return { ...draft, value: value.text, threshold: value.threshold ?? 0.6 };
  return { ...draft, value: String(value) };
}

/** Returns the rule in the format of the API. */
export function ruleOf(draft: RuleDraft): Schemas['Rule'] {
  const { id, name, enabled, source, kind, window, min, multiple } = draft;
  return {
    ...(id === undefined ? {} : { id }),
    ...{ name, enabled, source },
    when: kind === 'item' ? { kind, all: draft.clauses.map(clauseOf) } : { kind, window, min, multiple },
    then: draft.actions.flatMap((type) => actionsOf(type, draft)),
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
  return ruleOf(draft).then.length + (lacksLabel ? 1 : 0);
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

function actionsOf(type: Action['type'], { labels, channelIds, alsoKeywordChannels }: RuleDraft): Action[] {
  if (type === 'mark') return labels.map((label) => ({ type, label }));
  if (type !== 'notify' || channelIds.length === 0) return [{ type }];
  const groups = Array.from({ length: Math.ceil(channelIds.length / MAX_CHANNELS) }, (_, n) => ({
    ...{ type, channelIds: channelIds.slice(n * MAX_CHANNELS, (n + 1) * MAX_CHANNELS) },
  }));
  return [...groups, ...(alsoKeywordChannels ? [{ type }] : [])];
}

function clauseOf({ field, op, value, threshold }: ClauseDraft): Clause {
  if (op === 'exists') return { field, op };
  if (op === 'similar_to') return { field, op, value: { text: value, threshold } };
  const typed = (text: string) => {
    const type = typeOf(field);
    const isNumber = type === 'number' || (field.startsWith('ai.') && text !== '');
    if (isNumber && Number.isFinite(Number(text)) && text.trim() !== '') return Number(text);
    return (type === 'boolean' || field.startsWith('ai.')) && /^(true|false)$/.test(text)
      ? text === 'true'
      : text;
  };
  if (op === 'in')
    return {
      field,
      op,
      value: value
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
        .map(typed) as string[],
    };
  return { field, op, value: typed(value) };
}
