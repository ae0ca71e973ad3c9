import fc from 'fast-check';
import { clauseFault, OPERATORS } from '#rules';
import {
  clauseOf,
  comparisonOf,
  comparisonsOf,
  FIELDS,
  newClause,
  valuesOf,
  withComparison,
  withField,
  withText,
  type AgentFields,
  type Clause,
  type ClauseDraft,
} from '../../apps/dashboard/parts/rules/clauses.js';

const AGENT_FIELDS: AgentFields = {
  code: { type: 'string' },
  mood: { type: 'enum', values: ['good, or so', '7', 'true'] },
  rank: { type: 'number' },
  urgent: { type: 'boolean' },
};
const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FIELDS.flatMap(({ items }) => Object.entries(items))),
  ...Object.fromEntries(Object.entries(AGENT_FIELDS).map(([name, { type }]) => [`ai.${name}`, type])),
};
const NAMES = Object.keys(TYPES);

const sent = (clause: ClauseDraft) => clauseOf(clause, AGENT_FIELDS);
const faultOf = (clause: Clause) => clauseFault(clause, AGENT_FIELDS);
/** The pairs of a field and an operator that the API accepts. */
const PAIRS = NAMES.flatMap((field) =>
  OPERATORS.filter((op) => faultOf({ field, op })?.key !== 'op').map((op) => [field, op] as const),
);

// A number in JSON has no -0.
const number = (limits: object) =>
  fc.double({ noNaN: true, noDefaultInfinity: true, ...limits }).map((value) => value + 0);
const text = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('3', '007', '1e3', '12345678901234567890', 'true', 'Doe, Jane', ' ad '),
  fc.constantFrom('positive', 'praise', 'reddit', 'good, or so'),
);
const value = fc.oneof(
  fc.constant(undefined),
  fc.boolean(),
  number({}),
  text,
  fc.array(text, { minLength: 1, maxLength: 4 }),
  fc.record({ text, threshold: number({ min: 0, max: 1 }) }, { requiredKeys: ['text'] }),
);

/** Typical values of a field. */
function typicalValues(field: string): string[] {
  const values: Readonly<Record<string, string[]>> = {
    ...{ sentiment: ['negative'], intent: ['complaint'], source: ['reddit'] },
    ...{ 'ai.mood': ['good, or so', '7', 'true'] },
  };
  const ofType: Readonly<Record<string, string[]>> = { number: ['3', '-0.5'], boolean: ['true', 'false'] };
  return values[field] ?? ofType[TYPES[field] ?? ''] ?? ['acme', 'Doe, Jane', '3', 'true', '007'];
}

describe('a clause in the form', () => {
  it.each(PAIRS)(
    'is sent back unchanged if it is stored with the field %s and the operator %s',
    (field, op) => {
      const accepted = value
        .map((one) => ({ field, op, ...(one !== undefined && { value: one }) }) as Clause)
        .filter((clause) => faultOf(clause) === undefined);
      fc.assert(
        fc.property(accepted, (clause) => expect(sent(clause)).toStrictEqual(clause)),
        { numRuns: 50 },
      );
    },
  );

  it('is sent back unchanged if its field is not in the agent step', () => {
    for (const one of ['007', 'true', 7, true]) {
      const clause: Clause = { field: 'ai.code', op: 'eq', value: one };
      expect(clauseOf(clause, undefined)).toStrictEqual(clause);
    }
  });

  it.each(NAMES.flatMap((field) => comparisonsOf(field, AGENT_FIELDS).map((one) => [field, one] as const)))(
    'is accepted by the API with a typical value for the field %s and the comparison %s',
    (field, comparison) => {
      const chosen = withComparison(withField(newClause(), field, AGENT_FIELDS), comparison);
      const clauses = typicalValues(field).map((typed) => {
        if (chosen.op === 'exists') return chosen;
        return chosen.op === 'in' ? { ...chosen, value: [typed] } : withText(chosen, typed);
      });
      expect(clauses.map(sent).map(faultOf)).toEqual(clauses.map(() => undefined));
    },
  );

  it.each(NAMES)('offers the operators that the API accepts for the field %s', (field) => {
    const offered = comparisonsOf(field, AGENT_FIELDS).map((one) => withComparison(newClause(), one).op);
    expect([...new Set(offered)].map((op) => [field, op]).sort()).toEqual(
      PAIRS.filter(([name]) => name === field).sort(),
    );
  });

  it('has the name of every field of the API', () => {
    const message = faultOf({ field: 'nothing', op: 'eq' })?.message ?? '';
    const names = /the fields are (.*) and ai\.<field>$/.exec(message)?.[1]?.split(', ') ?? [];
    expect(FIELDS.flatMap(({ items }) => Object.keys(items)).sort()).toEqual(names.sort());
  });

  it('can require that a field has no value, even after another field is chosen', () => {
    const clause = withComparison(newClause(), 'not_exists');
    expect(sent(clause)).toEqual({ field: 'text', op: 'exists', value: false });
    const changed = withField(clause, 'vip', AGENT_FIELDS);
    expect([comparisonOf(changed), sent(changed)]).toEqual([
      'not_exists',
      { field: 'vip', op: 'exists', value: false },
    ]);
  });

  it('requires only that the field has a value if “has a value” replaces the comparison with the value false', () => {
    const clause = withComparison({ field: 'vip', op: 'eq', value: false }, 'exists');
    expect(sent(clause)).toEqual({ field: 'vip', op: 'exists' });
    expect(sent(withComparison(clause, 'eq'))).toEqual({ field: 'vip', op: 'eq', value: '' });
  });

  it('makes a list of the typed value for “is one of”, and keeps the list while another comparison is chosen', () => {
    const typed = withText(newClause(), 'Doe, Jane');
    expect(valuesOf(withComparison(typed, 'in'))).toEqual(['Doe, Jane']);
    const list: Clause = { field: 'author', op: 'in', value: ['Doe, Jane', 'Smith'] };
    const other = withComparison(list, 'eq');
    expect(sent(other)).toEqual({ field: 'author', op: 'eq', value: 'Doe, Jane, Smith' });
    expect(sent(withComparison(other, 'in'))).toEqual(list);
  });

  it('keeps the threshold of “means something like” after a change of the text', () => {
    const clause: Clause = { field: 'text', op: 'similar_to', value: { text: 'hiring', threshold: 0.7 } };
    expect(sent(withText(clause, 'we are hiring')).value).toEqual({ text: 'we are hiring', threshold: 0.7 });
  });

  it('has a value of the type of its field in the agent step, even if the text looks like another type', () => {
    const value = (field: string, typed: string) => sent({ field, op: 'eq', value: typed }).value;
    expect([value('ai.code', '007'), value('ai.mood', 'true')]).toEqual(['007', 'true']);
    expect([value('ai.rank', '007'), value('ai.urgent', 'true')]).toEqual([7, true]);
  });

  it('accepts a field that has the name of a property of JavaScript objects', () => {
    for (const field of ['constructor', 'ai.constructor', '__proto__', 'ai.__proto__'])
      expect(comparisonsOf(field, AGENT_FIELDS)).toContain('eq');
  });
});
