import { errorText } from '../error-text.js';
import { typeOf, type ClauseDraft, type RuleDraft } from './clauses.js';

/** Faults by the path of the field in the request (`rules[0].name`), in words for people. */
export type Faults = ReadonlyMap<string, string>;

/** The missing values in the rules of the form. They are checked before the rules are sent. */
export function faultsOf(rules: readonly RuleDraft[]): Faults {
  return new Map(
    rules.flatMap((rule, index) =>
      faultsOfRule(rule).map(([path, message]): [string, string] => [`rules[${index}].${path}`, message]),
    ),
  );
}

function faultsOfRule({ name, kind, clauses, actions, labels }: RuleDraft): [string, string][] {
  const faults: [string, string][] = [];
  if (name.trim() === '') faults.push(['name', 'Give the rule a name']);
  if (kind === 'item')
    clauses.forEach((clause, n) => {
      const fault = faultOfClause(clause);
      if (fault) faults.push([`when.all[${n}]`, fault]);
    });
  if (actions.length === 0) faults.push(['then', 'Choose at least one action']);
  else if (actions.includes('mark') && labels.length === 0) faults.push(['then', 'Choose a label to set']);
  return faults;
}

function faultOfClause({ field, op, value }: ClauseDraft): string | undefined {
  if (field.trim() === '') return 'Choose a field';
  if (op === 'exists') return undefined;
  const values = op === 'in' ? value.split(',').filter((one) => one.trim() !== '') : [value];
  if (values.every((one) => one.trim() === ''))
    return op === 'in' ? 'Enter at least one value' : 'Enter a value';
  const isNumber = typeOf(field) === 'number';
  if (isNumber && values.some((one) => !Number.isFinite(Number(one))))
    return op === 'in' ? 'Enter numbers, separated by commas' : 'Enter a number';
  if (typeOf(field) === 'boolean' && !/^(true|false)$/.test(value)) return 'Enter true or false';
  return undefined;
}

/** The first fault of a field or of its parts. */
export const faultWithin = (faults: Faults, path: string): string | undefined =>
  [...faults].find(([at]) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`))?.[1];

/** The fields of the form that show their own faults. */
const SHOWN = /^rules\[\d+\]\.(name|when\.(all\[\d+\]|min|multiple)|then)/;

/** The faults of a refused request, by the paths of the form. */
export function faultsOfRefusal(error: unknown): Faults {
  return new Map(errorText(error).faults.map(({ path, message }) => [camel(path), message]));
}

/** The paths of a refused request whose faults the form shows beside fields. */
export const shownPathsOf = (error: unknown): string[] =>
  errorText(error)
    .faults.map(({ path }) => path)
    .filter((path) => SHOWN.test(path));

const camel = (path: string) => path.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
