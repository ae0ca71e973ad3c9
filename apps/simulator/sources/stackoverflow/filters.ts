// The default fields of questions, answers and the wrapper. A filter names a field as `type.field`. A response contains
// the fields that its filter includes.
const QUESTION =
  'tags owner is_answered view_count protected_date accepted_answer_id answer_count closed_date score last_activity_date creation_date last_edit_date question_id content_license link closed_reason title';
const ANSWER =
  'owner is_accepted score last_activity_date last_edit_date creation_date answer_id question_id content_license';
const WRAPPER = 'backoff error_id error_message error_name has_more items quota_max quota_remaining';

const DEFAULTS = [...named('', WRAPPER), ...named('question', QUESTION), ...named('answer', ANSWER)];
const BODIES = ['question.body', 'answer.body'];
/** Fields that the filters `default` and `withbody` do not include. */
const MORE = [
  '.page',
  '.page_size',
  '.total',
  '.type',
  ...named('question', 'body_markdown share_link'),
  ...named('answer', 'body_markdown link share_link tags title'),
];
const KNOWN = new Set([...DEFAULTS, ...BODIES, ...MORE]);
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  default: DEFAULTS,
  withbody: [...DEFAULTS, ...BODIES],
  none: [],
  total: ['.total'],
};

/** A filter: the fields of a response, written as `question.title`. Fields of the wrapper are written as `.items`. */
export type Fields = ReadonlySet<string>;

/** The parameters of a new filter. */
export interface FilterParameters {
  base: string;
  include: readonly string[];
  exclude: readonly string[];
}

/**
 * Returns the name of the filter for these parameters. Filters exist forever and never change. The name contains all
 * parameters, so filters need not be stored. `wrong` names an invalid parameter.
 */
export function filterName(parameters: FilterParameters): { name: string } | { wrong: string } {
  if (!fieldsOf(parameters.base)) return { wrong: 'base' };
  if (!parameters.include.every((field) => KNOWN.has(field))) return { wrong: 'include' };
  if (!parameters.exclude.every((field) => KNOWN.has(field))) return { wrong: 'exclude' };
  const encoded = JSON.stringify([parameters.base, parameters.include, parameters.exclude]);
  return { name: `!${Buffer.from(encoded).toString('base64url')}` };
}

/** Returns the fields of a filter; undefined if there is no filter with this name. */
export function fieldsOf(name: string): Fields | undefined {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn) return new Set(builtIn);
  if (!name.startsWith('!')) return undefined;
  try {
    const encoded = Buffer.from(name.slice(1), 'base64url').toString();
    const [base, include, exclude] = JSON.parse(encoded) as [string, string[], string[]];
    const fields = new Set([...(fieldsOf(base) ?? []), ...include]);
    for (const field of exclude) fields.delete(field);
    return fields;
  } catch {
    return undefined;
  }
}

/** Returns the fields of an object that the filter includes. */
export function filtered(type: string, object: object, fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => fields.has(`${type}.${key}`)));
}

function named(type: string, fields: string): string[] {
  return fields.split(' ').map((field) => `${type}.${field}`);
}
