import {
  actionCountOf,
  draftOf,
  newRule,
  ruleOf,
  type RuleDraft,
} from '../../apps/dashboard/parts/rules/clauses.js';

type Rule = Parameters<typeof draftOf>[0];

const rule = (more: Partial<Rule>): Rule => ({
  ...{ id: 'r1', name: 'One', enabled: true, source: null },
  when: { kind: 'item', all: [{ field: 'text', op: 'exists' }] },
  then: [{ type: 'webhook' }],
  ...more,
});

describe('a rule in the form', () => {
  it.each<[string, Partial<Rule>]>([
    [
      'every kind of value',
      {
        when: {
          kind: 'item',
          all: [
            { field: 'likes', op: 'gte', value: 20 },
            { field: 'likes', op: 'in', value: [1, 2] as never },
            { field: 'vip', op: 'eq', value: true },
            { field: 'intent', op: 'in', value: ['complaint', 'churn_risk'] },
            { field: 'text', op: 'similar_to', value: { text: 'we are hiring', threshold: 0.7 } },
            { field: 'text', op: 'contains', value: '20' },
            { field: 'ai.urgent', op: 'eq', value: true },
            { field: 'ai.rank', op: 'gt', value: 3 },
            { field: 'author', op: 'exists' },
          ],
        },
      },
    ],
    [
      'several labels and channels',
      {
        then: [
          { type: 'mark', label: 'starred' },
          { type: 'mark', label: 'flagged' },
          { type: 'notify', channelIds: ['a', 'b'] },
          { type: 'stop' },
        ],
      },
    ],
    ['all channels of the keyword', { then: [{ type: 'notify' }] }],
    [
      'all channels of the keyword and another channel',
      { then: [{ type: 'notify', channelIds: ['a'] }, { type: 'notify' }] },
    ],
    [
      'a window',
      { when: { kind: 'volume', window: '24h', min: 7, multiple: 2.5 }, source: 'reddit', enabled: false },
    ],
  ])('is sent back unchanged if it has %s', (_, more) => {
    expect(ruleOf(draftOf(rule(more)))).toEqual(rule(more));
  });

  it.each<[number, string, Partial<RuleDraft>]>([
    [1, 'all channels of the keyword', { actions: ['notify'], alsoKeywordChannels: true }],
    [1, 'two channels', { actions: ['notify'], channelIds: ['a', 'b'] }],
    [
      2,
      'a channel and all channels of the keyword',
      { actions: ['notify'], channelIds: ['a'], alsoKeywordChannels: true },
    ],
    [2, 'two labels', { actions: ['mark'], labels: ['starred', 'flagged'] }],
    [1, 'a label that is not chosen yet', { actions: ['mark'], labels: [] }],
    [
      5,
      'a channel, all channels of the keyword, the webhook, a label and stop',
      { actions: ['notify', 'webhook', 'mark', 'stop'], channelIds: ['a'], alsoKeywordChannels: true },
    ],
  ])('has %i of the actions that the API counts with %s', (count, _, more) => {
    expect(actionCountOf({ ...newRule(), ...more })).toBe(count);
  });
});
