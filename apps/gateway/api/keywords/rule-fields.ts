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

type Kind = 'text' | 'name' | 'number' | 'boolean';

const FIELDS: Readonly<Record<string, Kind>> = {
  text: 'text',
  title: 'text',
  body: 'text',
  author: 'name',
  community: 'name',
  source: 'name',
  kind: 'name',
  lang: 'name',
  url: 'text',
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
};

const OPERATORS_OF: Readonly<Record<Kind, readonly string[]>> = {
  text: ['eq', 'neq', 'contains', 'not_contains', 'word', 'in', 'exists', 'similar_to'],
  name: ['eq', 'neq', 'contains', 'not_contains', 'word', 'in', 'exists'],
  number: ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'exists'],
  boolean: ['eq', 'neq', 'exists'],
};

/** The fault of a clause's field, or of its operator on that field; undefined when both fit. */
export function clauseFault(
  field: unknown,
  op: unknown,
): { key: 'field' | 'op'; message: string } | undefined {
  if (typeof field !== 'string' || typeof op !== 'string') return undefined;
  // The schema of the agent step gives the field its type, and the step itself checks it.
  if (/^ai\.[^.]+$/.test(field)) return undefined;
  const kind = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (!kind)
    return {
      key: 'field',
      message: `is not a field of a mention; known are ${Object.keys(FIELDS).join(', ')} and ai.<field>`,
    };
  const known = (OPERATORS as readonly string[]).includes(op);
  if (known && !OPERATORS_OF[kind].includes(op))
    return { key: 'op', message: `does not fit ${field}; use one of ${OPERATORS_OF[kind].join(', ')}` };
  return undefined;
}

/** The fault of a clause's value for its operator. */
export function clauseValueFault(value: unknown, field: unknown, op: unknown): string | undefined {
  switch (op) {
    case 'exists':
      return value === undefined || typeof value === 'boolean'
        ? undefined
        : 'must be true or false, or left out';
    case 'in':
      return isTexts(value) ? undefined : 'must be an array of strings';
    case 'similar_to':
      return similarFault(value);
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'contains':
    case 'not_contains':
    case 'word':
      return typeof value === 'string' && value !== '' ? undefined : 'must be a string that is not empty';
    default:
      return scalarFault(value, typeof field === 'string' ? FIELDS[field] : undefined);
  }
}

function scalarFault(value: unknown, kind: Kind | undefined): string | undefined {
  if (kind === 'number') return typeof value === 'number' ? undefined : 'must be a number';
  if (kind === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (kind !== undefined) return typeof value === 'string' ? undefined : 'must be a string';
  return ['string', 'number', 'boolean'].includes(typeof value) || isTexts(value)
    ? undefined
    : 'must be a string, a number, true or false, or an array of strings';
}

function similarFault(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return undefined;
  const { text, threshold } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof text !== 'string' || text === '') return 'must be a string, or an object with a text';
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0 && threshold <= 1))
    return 'has a threshold outside 0 to 1';
  return undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
