import { errorText } from '../error-text.js';
import { textOf, typeOf, valuesOf, type AgentFields, type ClauseDraft } from './clauses.js';
import type { RuleDraft } from './rule-draft.js';

/** The texts of faults by the path of the field in the request (`rules[0].name`). */
export type Faults = ReadonlyMap<string, string>;

/**
 * Returns the faults of missing and invalid values in the rules of the form, before the rules are sent.
 * @param agentFields the fields of the keyword's agent step; undefined if the keyword has none
 */
export function faultsOf(rules: readonly RuleDraft[], agentFields: AgentFields | undefined): Faults {
  return new Map(
    rules.flatMap((rule, index) =>
      faultsOfRule(rule, agentFields).map(([path, message]): [string, string] => [
        `rules[${index}].${path}`,
        message,
      ]),
    ),
  );
}

function faultsOfRule(
  { name, kind, clauses, actions, labels }: RuleDraft,
  agentFields: AgentFields | undefined,
): [string, string][] {
  const faults: [string, string][] = [];
  if (name.trim() === '') faults.push(['name', 'Give the rule a name']);
  if (kind === 'item')
    clauses.forEach((clause, n) => {
      const fault = faultOfClause(clause, agentFields);
      if (fault) faults.push([`when.all[${n}]`, fault]);
    });
  if (actions.length === 0) faults.push(['then', 'Choose at least one action']);
  else if (actions.includes('mark') && labels.length === 0) faults.push(['then', 'Choose a label to set']);
  return faults;
}

function faultOfClause(clause: ClauseDraft, agentFields: AgentFields | undefined): string | undefined {
  const { field, op } = clause;
  if (field.trim() === '') return 'Choose a field';
  if (op === 'exists') return undefined;
  const values = op === 'in' ? valuesOf(clause) : [textOf(clause)];
  if (values.every((one) => one.trim() === ''))
    return op === 'in' ? 'Enter at least one value' : 'Enter a value';
  const type = typeOf(field, agentFields);
  if (type === 'number' && values.some((one) => !Number.isFinite(Number(one))))
    return op === 'in' ? 'Enter only numbers' : 'Enter a number';
  if (type === 'boolean' && !values.every((one) => /^(true|false)$/.test(one))) return 'Enter true or false';
  return undefined;
}

/** Returns the first fault of a field or of a part of the field. */
export const faultWithin = (faults: Faults, path: string): string | undefined =>
  [...faults].find(([at]) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`))?.[1];

/** The paths whose faults the form shows beside the field. */
const SHOWN_PATHS = /^rules\[\d+\]\.(name|when\.(all\[\d+\]|min|multiple)|then)/;

/** Returns the faults of a refused request, by the paths of the form. */
export function faultsOfRefusal(error: unknown): Faults {
  return new Map(errorText(error).faults.map(({ path, message }) => [camel(path), message]));
}

/** Returns the paths in a refused request whose faults the form shows beside the fields. */
export const shownPathsOf = (error: unknown): string[] =>
  errorText(error)
    .faults.map(({ path }) => path)
    .filter((path) => SHOWN_PATHS.test(path));

const camel = (path: string) => path.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
