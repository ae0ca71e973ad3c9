import { newClause, type ClauseDraft } from '../../apps/dashboard/parts/rules/clauses.js';
import { newRule, type RuleDraft } from '../../apps/dashboard/parts/rules/rule-draft.js';
import { faultsOf, faultWithin } from '../../apps/dashboard/parts/rules/rule-faults.js';

const AGENT_FIELDS = {
  rank: { type: 'number' },
  urgent: { type: 'boolean' },
  code: { type: 'string' },
} as const;

const faults = (more: Partial<RuleDraft>) => [
  ...faultsOf(
    [{ ...newRule(), name: 'One', clauses: [{ ...newClause(), value: 'x' }], ...more }],
    AGENT_FIELDS,
  ),
];
const clause = (field: string, op: ClauseDraft['op'], value: ClauseDraft['value']) => ({
  clauses: [{ field, op, value }],
});

describe('the faults of rules in the form', () => {
  it.each<[string, Partial<RuleDraft>]>([
    ['a complete rule', {}],
    ['a clause that needs no value', clause('author', 'exists', undefined)],
    ['a clause that a field has no value', clause('likes', 'exists', false)],
    ['a stored number', clause('likes', 'gte', 20)],
    ['a text of the agent step', clause('ai.code', 'eq', 'A')],
    ['a list of numbers', clause('likes', 'in', ['1', '2'])],
    ['an empty clause of a rule about volume', { kind: 'volume', ...clause('text', 'eq', '') }],
  ])('are empty for %s', (_, more) => {
    expect(faults(more)).toEqual([]);
  });

  it.each<[string, Partial<RuleDraft>, string, string]>([
    ['an empty name', { name: ' ' }, 'rules[0].name', 'Give the rule a name'],
    ['an empty value', clause('text', 'contains', ''), 'rules[0].when.all[0]', 'Enter a value'],
    ['an empty list', clause('text', 'in', []), 'rules[0].when.all[0]', 'Enter at least one value'],
    ['a text for a number', clause('likes', 'gte', 'many'), 'rules[0].when.all[0]', 'Enter a number'],
    [
      'a text for a number of the agent step',
      clause('ai.rank', 'eq', '1st'),
      'rules[0].when.all[0]',
      'Enter a number',
    ],
    [
      'a text in a list of numbers',
      clause('likes', 'in', ['1', 'many']),
      'rules[0].when.all[0]',
      'Enter only numbers',
    ],
    ['a text for a boolean', clause('ai.urgent', 'eq', 'yes'), 'rules[0].when.all[0]', 'Enter true or false'],
    ['no field', clause('', 'eq', 'x'), 'rules[0].when.all[0]', 'Choose a field'],
    ['no action', { actions: [] }, 'rules[0].then', 'Choose at least one action'],
    ['no label', { actions: ['mark'], labels: [] }, 'rules[0].then', 'Choose a label to set'],
  ])('describe %s in plain words', (_, more, path, message) => {
    expect(faults(more)).toEqual([[path, message]]);
  });

  it('are shown at the clause to which they belong: a fault of clause 10 is not shown at clause 1', () => {
    const known = new Map([['rules[0].when.all[10].value', 'wrong']]);
    expect(faultWithin(known, 'rules[0].when.all[10]')).toBe('wrong');
    expect(faultWithin(known, 'rules[0].when.all[1]')).toBeUndefined();
  });
});
