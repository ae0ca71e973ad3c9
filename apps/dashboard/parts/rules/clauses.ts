import type { components } from '../../../../clients/typescript/src/index.js';

type Schemas = components['schemas'];
/** A clause of a rule, as the API expects it. */
export type Clause = Schemas['Clause'];
/** The operator of a clause. */
export type Operator = Clause['op'];
/**
 * A clause in the form: as it is stored, until the member changes it. A value that the member types is a text, also for
 * a number or a boolean; `clauseOf` converts the text.
 */
export type ClauseDraft = Clause;

/**
 * How the form compares a field: the operator, or `not_exists`, which the API writes as `exists` with the value `false`.
 */
export type Comparison = Operator | 'not_exists';
/** The fields of a keyword's agent step by name. */
export type AgentFields = Schemas['AgentStep']['schema'];

/** `unknown` is the type of a field that the agent step of the keyword does not have. */
type FieldType = 'text' | 'name' | 'number' | 'boolean' | 'unknown';

const EXISTENCE: readonly Comparison[] = ['exists', 'not_exists'];
const OF_NAMES: readonly Comparison[] = ['eq', 'neq', 'contains', 'not_contains', 'word', 'in', ...EXISTENCE];
const COMPARISONS_OF: Readonly<Record<FieldType, readonly Comparison[]>> = {
  text: ['contains', 'not_contains', 'word', 'similar_to', 'eq', 'neq', 'in', ...EXISTENCE],
  name: OF_NAMES,
  number: ['gte', 'gt', 'lte', 'lt', 'eq', 'neq', 'in', ...EXISTENCE],
  boolean: ['eq', 'neq', ...EXISTENCE],
  unknown: [...OF_NAMES, 'gte', 'gt', 'lte', 'lt'],
};

/** The words for each comparison. */
export const COMPARISON_NAMES: Readonly<Record<Comparison, string>> = {
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
  exists: 'has a value',
  not_exists: 'has no value',
  similar_to: 'means something like',
};

/** The threshold of `similar_to` if the clause has none. */
const DEFAULT_THRESHOLD = 0.6;

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
const TYPES = new Map(FIELDS.flatMap(({ items }) => Object.entries(items)));

/**
 * Returns the type of a field. Fields that are neither in `FIELDS` nor fields of an agent step have the type `name`.
 * @param agentFields the fields of the keyword's agent step; undefined if the keyword has none
 */
export function typeOf(field: string, agentFields: AgentFields | undefined): FieldType {
  const known = TYPES.get(field);
  if (known) return known;
  if (!field.startsWith('ai.')) return 'name';
  const name = field.slice(3);
  if (!agentFields || !Object.hasOwn(agentFields, name)) return 'unknown';
  const type = agentFields[name]?.type;
  return type === 'number' || type === 'boolean' ? type : 'name';
}

/** Returns the comparisons that are possible for a field. */
export const comparisonsOf = (field: string, agentFields: AgentFields | undefined): readonly Comparison[] =>
  COMPARISONS_OF[typeOf(field, agentFields)];

/** Returns the comparison of a clause. */
export const comparisonOf = ({ op, value }: ClauseDraft): Comparison =>
  op === 'exists' && value === false ? 'not_exists' : op;

/** Returns a new clause without a value. */
export const newClause = (): ClauseDraft => ({ field: 'text', op: 'contains', value: '' });

/** Returns the clause with another field, and with another comparison if the present one does not fit the field. */
export function withField(
  clause: ClauseDraft,
  field: string,
  agentFields: AgentFields | undefined,
): ClauseDraft {
  const fitting = comparisonsOf(field, agentFields);
  const changed = { ...clause, field };
  return fitting.includes(comparisonOf(clause)) ? changed : withComparison(changed, fitting[0] ?? 'eq');
}

/** Returns the clause with another comparison. The value stays if the comparison has one. */
export function withComparison({ field, op, value }: ClauseDraft, comparison: Comparison): ClauseDraft {
  if (comparison === 'exists') return { field, op: 'exists' };
  if (comparison === 'not_exists') return { field, op: 'exists', value: false };
  return { field, op: comparison, value: op === 'exists' ? '' : value };
}

/** Returns the clause with another text as the value. `similar_to` keeps its threshold. */
export const withText = (clause: ClauseDraft, text: string): ClauseDraft => ({
  ...clause,
  value: isSimilar(clause.value) ? { ...clause.value, text } : text,
});

/** Returns the value of a clause as one text. */
export function textOf({ value = '' }: ClauseDraft): string {
  if (isSimilar(value)) return value.text;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Returns the value of a clause as a list. A text is a list of one value. */
export function valuesOf(clause: ClauseDraft): string[] {
  if (Array.isArray(clause.value)) return clause.value;
  const text = textOf(clause);
  return text.trim() === '' ? [] : [text];
}

/** Returns the threshold of `similar_to`. */
export const thresholdOf = ({ value }: ClauseDraft): number =>
  (isSimilar(value) ? value.threshold : undefined) ?? DEFAULT_THRESHOLD;

/**
 * Returns the clause in the format of the API: with the type of value that the field and the operator need. A stored
 * clause already has this type, so it stays unchanged.
 */
export function clauseOf(clause: ClauseDraft, agentFields: AgentFields | undefined): Clause {
  const { field, op, value } = clause;
  switch (op) {
    case 'exists':
      return typeof value === 'boolean' ? { field, op, value } : { field, op };
    case 'in':
      return { field, op, value: valuesOf(clause) };
    case 'similar_to':
      return { field, op, value: isSimilar(value) ? value : textOf(clause) };
    case 'contains':
    case 'not_contains':
    case 'word':
      return { field, op, value: textOf(clause) };
    default:
      return { field, op, value: scalarOf(clause, typeOf(field, agentFields)) };
  }
}

/** A text that is not of the type stays a text, because the API reports the fault. */
function scalarOf(clause: ClauseDraft, type: FieldType): Clause['value'] {
  if (type === 'unknown') return clause.value;
  const text = textOf(clause);
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

function isSimilar(value: Clause['value']): value is { text: string; threshold?: number } {
  return typeof value === 'object' && !Array.isArray(value);
}
