/** Every operator of a clause. */
export const OPERATORS = [
  'eq',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'not_contains',
  'word',
  'in',
  'exists',
  'similar_to',
] as const;
/** An operator of a clause. */
export type Operator = (typeof OPERATORS)[number];

/**
 * The type of a field. `text` is prose, `address` a URL, `name` a short text, `handle` the name of an account or a
 * community.
 */
export type FieldKind = 'text' | 'address' | 'name' | 'handle' | 'number' | 'boolean';

/** The fields of a mention that a clause can read, in addition to `ai.<field>`. */
export const FIELD_KINDS = {
  text: 'text',
  title: 'text',
  body: 'text',
  author: 'handle',
  community: 'handle',
  source: 'name',
  kind: 'name',
  lang: 'name',
  url: 'address',
  sentiment: 'name',
  sentimentScore: 'number',
  intent: 'name',
  relevance: 'number',
  bucket: 'name',
  vip: 'boolean',
  price: 'number',
  previousPrice: 'number',
  brand: 'name',
  likes: 'number',
  replies: 'number',
  shares: 'number',
  views: 'number',
  score: 'number',
  authorFollowers: 'number',
  matchedTerm: 'name',
} as const satisfies Record<string, FieldKind>;
/** A field of a clause. */
export type Field = keyof typeof FIELD_KINDS;

const OF_NAMES: readonly Operator[] = ['eq', 'neq', 'contains', 'not_contains', 'word', 'in', 'exists'];

/** The operators that each type of field allows. */
export const OPERATORS_OF: Readonly<Record<FieldKind, readonly Operator[]>> = {
  text: [...OF_NAMES, 'similar_to'],
  address: OF_NAMES,
  name: OF_NAMES,
  handle: OF_NAMES,
  number: ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'exists'],
  boolean: ['eq', 'neq', 'exists'],
};

/** The default threshold of `similar_to`. */
export const DEFAULT_THRESHOLD = 0.6;

/** Returns the name of the agent step's field that `ai.<field>` reads; undefined for another field. */
export function agentFieldOf(field: string): string | undefined {
  return field.startsWith('ai.') && field.length > 3 ? field.slice(3) : undefined;
}

/** Returns true for a field of a mention; false for `ai.<field>` and for an unknown field. */
export function isField(field: string): field is Field {
  return Object.hasOwn(FIELD_KINDS, field);
}
