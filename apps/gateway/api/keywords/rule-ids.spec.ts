import { create } from '@bufbuild/protobuf';
import { RuleSchema } from '#contracts';
import { keepRuleIds } from './rule-ids.js';

const rule = (id: string, name: string, kind: string, value = 1) =>
  create(RuleSchema, { id, name, when: { kind, value } });

describe('a rule without an id', () => {
  it.each([
    ['keeps the id of the rule with the same name and condition', [rule('', 'A', 'item')], ['a']],
    [
      'keeps the id of the only rule with the same name and kind of condition',
      [rule('', 'B', 'volume', 7)],
      ['b'],
    ],
    ['is new if its name is new', [rule('', 'C', 'item')], ['']],
    ['is new if the rule with its name has another kind of condition', [rule('', 'B', 'item')], ['']],
    [
      'is new if another rule of the body already has the id that this rule would keep',
      [rule('a', 'Renamed', 'item'), rule('', 'A', 'item')],
      ['a', ''],
    ],
    [
      'is recognised by its condition if several rules have its name',
      [rule('', 'Twin', 'item', 2), rule('', 'Twin', 'item', 1)],
      ['second', 'first'],
    ],
    [
      'is new if several rules have its name and none has its condition',
      [rule('', 'Twin', 'item', 3), rule('', 'Twin', 'item', 4)],
      ['', ''],
    ],
    [
      'is recognised by its name after the other rule with this name was recognised by its condition',
      [rule('', 'Twin', 'item', 3), rule('', 'Twin', 'item', 2)],
      ['first', 'second'],
    ],
  ])('%s', (_, rules, ids) => {
    keepRuleIds(rules, [
      rule('a', 'A', 'item'),
      rule('b', 'B', 'volume'),
      rule('first', 'Twin', 'item', 1),
      rule('second', 'Twin', 'item', 2),
    ]);
    expect(rules.map(({ id }) => id)).toEqual(ids);
  });
});
