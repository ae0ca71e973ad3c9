import { SOURCE_IDS } from '#contracts';
import {
  chars,
  faultsOfKeyword,
  fullKeyword,
  many,
  withValue,
  type Json,
} from './testing/keyword-body-under-test.js';

const uuid = '0190a0b0-0000-7000-8000-000000000000';
const clause = 'rules[0].when.all[0]';
const rule = {
  name: 'r',
  when: { kind: 'volume', window: '1h', min: 1, multiple: 1 },
  then: [{ type: 'notify' }],
};
const item = (...all: Json[]) => ({ kind: 'item', all });
const step = (schema: Json) => ({ instruction: 'x', schema });
const fields = (count: number) => Object.fromEntries(many(count, (n) => [`field ${n}`, { type: 'string' }]));

const ACCEPTED: [path: string, values: Json[]][] = [
  ['rules', [undefined, [], many(20, () => rule)]],
  ['rules[0].id', [undefined, uuid]],
  ['rules[0].name', ['x', chars(60)]],
  ['rules[0].enabled', [undefined, true, false]],
  ['rules[0].source', [undefined, null, ...SOURCE_IDS]],
  ['rules[0].when', [{ kind: 'sentiment_shift', window: '24h', min: 1, multiple: 1.5 }]],
  ['rules[0].when.all', [many(8, () => ({ field: 'likes', op: 'gt', value: 1 }))]],
  ['rules[0].then', [many(4, () => ({ type: 'notify' }))]],
  ['rules[0].then[0].type', ['notify', 'webhook', 'stop']],
  ['rules[0].then[0]', [{ type: 'mark', label: 'starred' }]],
  ['rules[0].then[0].channelIds', [undefined, [], many(5, () => uuid)]],
  ['rules[0].then[0].label', [undefined, 'to_reply', 'starred', 'flagged', 'hidden']],
  ['rules[1].when.window', ['1h', '24h']],
  ['rules[1].when.min', [1, 1_000_000]],
  ['rules[1].when.multiple', [1, 1.01]],
  [
    clause,
    [
      { field: 'text', op: 'eq', value: 'a' },
      { field: 'title', op: 'neq', value: 'a' },
      { field: 'price', op: 'lt', value: 1.5 },
      { field: 'price', op: 'lte', value: 0 },
      { field: 'score', op: 'gt', value: -1 },
      { field: 'views', op: 'gte', value: 1 },
      { field: 'body', op: 'contains', value: 'a' },
      { field: 'author', op: 'not_contains', value: 'a' },
      { field: 'url', op: 'word', value: 'a' },
      { field: 'sentiment', op: 'in', value: ['positive', 'mixed'] },
      { field: 'community', op: 'exists', value: true },
      { field: 'lang', op: 'exists' },
      { field: 'vip', op: 'eq', value: true },
      { field: 'text', op: 'similar_to', value: 'a' },
      { field: 'text', op: 'similar_to', value: { text: 'a' } },
      { field: 'text', op: 'similar_to', value: { text: 'a', threshold: 0 } },
      { field: 'text', op: 'similar_to', value: { text: 'a', threshold: 1 } },
      { field: 'ai.product', op: 'eq', value: 'a' },
      { field: 'ai.count', op: 'gt', value: 1 },
      { field: 'ai.mood', op: 'in', value: ['good'] },
      { field: 'likes', op: 'in', value: ['1', '2.5'] },
      { field: 'text', op: 'contains', value: chars(1000) },
    ],
  ],
  ['aiStep.instruction', ['x', chars(800)]],
  ['aiStep.schema', [fields(1), fields(12)]],
  [
    'aiStep.schema.product',
    [
      { type: 'string', maxLength: 1 },
      { type: 'number', description: chars(200) },
      { type: 'boolean', description: '' },
      { type: 'enum', values: many(12, (n) => `v${n}`) },
      { type: 'string', values: [] },
      { type: 'string', maxLength: 2 ** 31 - 1 },
    ],
  ],
];

const REFUSED: [path: string, values: Json[]][] = [
  ['rules', [null, {}, many(21, () => rule)]],
  ['rules[0]', [null, 'x', [rule]]],
  ['rules[0].id', [null, 'x', '']],
  ['rules[0].name', [undefined, null, '', chars(61)]],
  ['rules[0].enabled', [null, 'true']],
  ['rules[0].source', ['', 'facebook']],
  ['rules[0].when', [undefined, null, 'x', [], [null], [item({ field: 'likes', op: 'gt', value: 1 })]]],
  ['rules[0].when.kind', [undefined, null, 'other']],
  ['rules[0].when.all', [undefined, null, [], {}, many(9, () => ({ field: 'likes', op: 'gt', value: 1 }))]],
  [clause, [null, 'x', [{ field: 'likes', op: 'gt', value: 1 }]]],
  [`${clause}.field`, [undefined, null, '', 'colour', 'constructor', 'ai.', 'ai.a.b']],
  [`${clause}.op`, [undefined, null, '', 'matches']],
  [`${clause}.value`, [undefined, null, '10', true, [1], {}]],
  ['rules[0].then', [undefined, null, [], {}, many(5, () => ({ type: 'notify' }))]],
  ['rules[0].then[0]', [null, 'x', [{ type: 'stop' }]]],
  ['rules[0].then[0].type', [undefined, null, 'email']],
  ['rules[0].then[0].channelIds', [null, 'x', ['x'], many(6, () => uuid)]],
  ['rules[0].then[0].label', [null, '', 'done']],
  ['rules[1].when.window', [undefined, null, '2h', 1]],
  ['rules[1].when.min', [undefined, null, 0, 1.5, '1']],
  ['rules[1].when.multiple', [undefined, null, 0.99, '2']],
  ['aiStep.instruction', [undefined, null, '', chars(801)]],
  ['aiStep.schema', [undefined, null, 'x', [], {}, fields(13)]],
];

/** Clauses whose value is missing, or is a value that the operator or the field does not accept. */
const WRONG_VALUES: { field: string; op: string; value?: Json }[] = [
  { field: 'text', op: 'contains', value: '' },
  { field: 'text', op: 'word', value: 5 },
  { field: 'text', op: 'eq', value: 5 },
  { field: 'lang', op: 'in', value: 'en' },
  { field: 'lang', op: 'in', value: [1] },
  { field: 'lang', op: 'exists', value: 'yes' },
  { field: 'vip', op: 'eq', value: 'true' },
  { field: 'text', op: 'similar_to', value: '' },
  { field: 'text', op: 'similar_to', value: {} },
  { field: 'text', op: 'similar_to', value: { text: 'a', threshold: 1.01 } },
  { field: 'text', op: 'similar_to', value: { text: 'a', threshold: '1' } },
  { field: 'text', op: 'similar_to', value: { text: 'a', limit: 1 } },
  { field: 'text', op: 'contains', value: '\u200b ' },
  { field: 'text', op: 'contains', value: chars(600_000) },
  { field: 'text', op: 'similar_to', value: { text: chars(1001) } },
  { field: 'likes', op: 'in', value: ['many'] },
  { field: 'likes', op: 'eq', value: '5' },
  { field: 'lang', op: 'in', value: [] },
  { field: 'lang', op: 'in', value: many(101, String) },
  { field: 'sentiment', op: 'eq', value: 'happy' },
  { field: 'intent', op: 'in', value: ['praise', 'joy'] },
  { field: 'source', op: 'neq', value: 'facebook' },
  { field: 'ai.mood', op: 'eq', value: 'great' },
  { field: 'ai.count', op: 'eq', value: '1' },
  { field: 'ai.x', op: 'eq', value: {} },
  { field: 'ai.x', op: 'eq' },
];

const WRONG_FIELDS: [field: Json, says: string][] = [
  [null, 'it must be an object'],
  [['string'], 'it must be an object'],
  [{}, 'type must be string, number, boolean or enum'],
  [{ type: 'date' }, 'type must be string, number, boolean or enum'],
  [{ type: 'string', description: chars(201) }, 'description must be a string of at most 200 characters'],
  [{ type: 'enum', values: many(13, (n) => `v${n}`) }, 'values must be at most 12 strings'],
  [{ type: 'enum', values: [1] }, 'values must be at most 12 strings'],
  [{ type: 'enum' }, 'an enum needs values'],
  [{ type: 'enum', values: [] }, 'an enum needs values'],
  [{ type: 'string', maxLength: 0 }, 'maxLength must be an integer from 1 to 2147483647'],
  [{ type: 'string', maxLength: 2 ** 31 }, 'maxLength must be an integer from 1 to 2147483647'],
  [{ type: 'string', colour: 'red' }, 'colour is not a known key'],
];

const labelled = (values: Json[]) =>
  values.map((value) => [(JSON.stringify(value) ?? 'left out').slice(0, 60), value] as const);

describe('the checks of a keyword’s rules and agent step', () => {
  describe.each(ACCEPTED)('accept the key %s', (path, values) => {
    it.each(labelled(values))(
      'with the value %s [limits.lists, limits.rules, limits.rule-name, limits.agent-instruction, limits.agent-schema, limits.field-description]',
      (_, value) => {
        expect(faultsOfKeyword(withValue(fullKeyword(), path, value))).toEqual([]);
      },
    );
  });

  describe.each(REFUSED)('refuse the key %s', (path, values) => {
    it.each(labelled(values))(
      'with the value %s, and the only fault has the path of this key [limits.lists, limits.rules, limits.rule-name, limits.agent-instruction, limits.agent-schema]',
      (_, value) => {
        const paths = faultsOfKeyword(withValue(fullKeyword(), path, value)).map((fault) => fault.path);
        expect([...new Set(paths)]).toEqual([path]);
      },
    );
  });

  it.each(WRONG_VALUES)(
    'refuse the clause %j, and the fault has the path of the value [rules.fits]',
    (wrong) => {
      const faults = faultsOfKeyword(withValue(fullKeyword(), clause, wrong));
      expect([...new Set(faults.map(({ path }) => path))]).toEqual([`${clause}.value`]);
    },
  );

  it.each([
    { field: 'likes', op: 'contains', value: '1' },
    { field: 'author', op: 'similar_to', value: 'a' },
    { field: 'text', op: 'lt', value: 1 },
    { field: 'vip', op: 'in', value: ['true'] },
    { field: 'url', op: 'similar_to', value: 'a' },
    { field: 'ai.x', op: 'gt', value: 1 },
    { field: 'ai.count', op: 'contains', value: '1' },
  ])('refuse the clause %j, because its operator does not fit the field [rules.fits]', (wrong) => {
    const [fault, ...others] = faultsOfKeyword(withValue(fullKeyword(), clause, wrong));
    expect(fault?.path).toBe(`${clause}.op`);
    expect(fault?.message).toContain(`does not fit ${wrong.field}; use one of `);
    expect(others).toEqual([]);
  });

  it('refuse a clause about an agent step, or a field of an agent step, that does not exist [rules.ai]', () => {
    const without = withValue(fullKeyword(), 'aiStep', undefined);
    const path = `${clause}.field`;
    const reading = (field: string) => withValue(without, clause, { field, op: 'eq', value: 'a' });
    expect(faultsOfKeyword(reading('ai.product'))).toEqual([
      { path, message: 'reads the agent step, but the keyword has none: add an aiStep' },
    ]);
    const other = withValue(fullKeyword(), clause, { field: 'ai.colour', op: 'eq', value: 'a' });
    expect(faultsOfKeyword(other)).toEqual([
      { path, message: expect.stringContaining('its fields are ai.product, ai.count') },
    ]);
  });

  it.each(['volume', 'sentiment_shift'])(
    'refuse `mark` and `stop` in a rule whose condition has the kind %s [rules.window-actions]',
    (kind) => {
      const then = [{ type: 'notify' }, { type: 'mark', label: 'starred' }, { type: 'stop' }];
      const body = withValue(fullKeyword(), 'rules[1]', { ...rule, when: { ...rule.when, kind }, then });
      const message = (type: string) => `${type} needs a condition on items; use one of notify, webhook`;
      expect(faultsOfKeyword(body)).toEqual([
        { path: 'rules[1].then[1].type', message: message('mark') },
        { path: 'rules[1].then[2].type', message: message('stop') },
      ]);
    },
  );

  it('refuse `mark` without a label [rules.mark-label]', () => {
    expect(faultsOfKeyword(withValue(fullKeyword(), 'rules[0].then', [{ type: 'mark' }]))).toEqual([
      { path: 'rules[0].then[0].label', message: 'is required for mark' },
    ]);
  });

  it.each(WRONG_FIELDS)(
    'refuse the field %j in the schema of the agent step, and state the reason [limits.field-description, limits.agent-schema]',
    (field, says) => {
      expect(faultsOfKeyword(withValue(fullKeyword(), 'aiStep', step({ 'my field': field })))).toEqual([
        { path: 'aiStep.schema', message: `has a faulty field "my field": ${says}` },
      ]);
    },
  );

  it('treat a field named constructor or __proto__ like any other field', () => {
    const schema = JSON.parse('{"constructor":{"type":"string"},"__proto__":{"type":"number"}}') as Json;
    expect(faultsOfKeyword(withValue(fullKeyword(), 'aiStep', step(schema)))).toEqual([]);
    const faulty = JSON.parse('{"__proto__":{"type":"date"}}') as Json;
    expect(faultsOfKeyword(withValue(fullKeyword(), 'aiStep', step(faulty))).map(({ path }) => path)).toEqual(
      ['aiStep.schema'],
    );
  });

  it.each(['rules[0]', 'rules[0].when', clause, 'rules[0].then[0]', 'rules[1].when', 'aiStep'])(
    'name an unknown key in %s [requests.unknown-key]',
    (parent) => {
      const path = `${parent}.colour`;
      expect(faultsOfKeyword(withValue(fullKeyword(), path, 'red'))).toEqual([
        { path, message: 'is not a known key' },
      ]);
    },
  );
});

it('a schedule must end after its start, which is read in the schedule’s own zone [keywords.timezone]', () => {
  const faults = (startsAt: string, endsAt: string) =>
    faultsOfKeyword(withValue(fullKeyword(), 'schedule', { startsAt, endsAt, timezone: 'Asia/Tokyo' }));
  // Noon in Tokyo is 03:00 UTC.
  expect(faults('2026-07-01T12:00', '2026-07-01T03:30Z')).toEqual([]);
  expect(faults('2026-07-01T12:00', '2026-07-01T02:30Z')).toEqual([
    { path: 'schedule.endsAt', message: 'must be after startsAt' },
  ]);
});
