import {
  actionCountOf,
  draftOf,
  isOffered,
  MAX_ACTIONS,
  newRule,
  ruleOf,
  withActions,
  type RuleDraft,
} from '../../apps/dashboard/parts/rules/rule-draft.js';

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
            { field: 'likes', op: 'in', value: ['1', '2.50'] },
            { field: 'vip', op: 'eq', value: true },
            { field: 'intent', op: 'in', value: ['complaint', 'churn_risk'] },
            { field: 'text', op: 'similar_to', value: { text: 'we are hiring', threshold: 0.7 } },
            { field: 'text', op: 'contains', value: '20' },
            { field: 'ai.urgent', op: 'eq', value: true },
            { field: 'ai.rank', op: 'gt', value: 3 },
            { field: 'author', op: 'exists' },
            { field: 'author', op: 'exists', value: true },
          ],
        },
      },
    ],
    [
      'a clause that a field has no value',
      { when: { kind: 'item', all: [{ field: 'author', op: 'exists', value: false }] } },
    ],
    [
      'values with a comma in a list',
      { when: { kind: 'item', all: [{ field: 'author', op: 'in', value: ['Doe, Jane', 'Smith'] }] } },
    ],
    [
      'texts that look like a number or a boolean, in fields of an agent step that is not known',
      {
        when: {
          kind: 'item',
          all: [
            { field: 'ai.code', op: 'eq', value: '007' },
            { field: 'ai.code', op: 'in', value: ['1e3', 'true'] },
            { field: 'ai.answer', op: 'contains', value: 'true' },
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
      'more channels than one action can have',
      {
        then: [
          { type: 'notify', channelIds: ['a', 'b', 'c', 'd', 'e'] },
          { type: 'notify', channelIds: ['f', 'g'] },
        ],
      },
    ],
    [
      'all channels of the keyword and another channel',
      { then: [{ type: 'notify', channelIds: ['a'] }, { type: 'notify' }] },
    ],
    [
      'single channels in several actions',
      {
        then: [
          { type: 'notify', channelIds: ['a'] },
          { type: 'notify', channelIds: ['b', 'a'] },
        ],
      },
    ],
    [
      'labels before and after another action',
      { then: [{ type: 'mark', label: 'starred' }, { type: 'stop' }, { type: 'mark', label: 'flagged' }] },
    ],
    [
      'channels and a label in actions that do not use them',
      {
        then: [{ type: 'webhook', channelIds: ['a'], label: 'starred' }, { type: 'notify' }],
      },
    ],
    ['the same action twice', { then: [{ type: 'webhook' }, { type: 'webhook' }] }],
    [
      'a window',
      { when: { kind: 'volume', window: '24h', min: 7, multiple: 2.5 }, source: 'reddit', enabled: false },
    ],
  ])('is sent back unchanged if it has %s', (_, more) => {
    expect(ruleOf(draftOf(rule(more)), undefined)).toStrictEqual(rule(more));
  });

  it('sends the actions of the form instead of the stored actions after a change', () => {
    const stored = rule({
      then: [{ type: 'notify', channelIds: ['a'] }, { type: 'notify', channelIds: ['b'] }, { type: 'stop' }],
    });
    const changed = { ...draftOf(stored), channelIds: ['a', 'b', 'c'] };
    expect(ruleOf(changed, undefined).then).toEqual([
      { type: 'notify', channelIds: ['a', 'b', 'c'] },
      { type: 'stop' },
    ]);
    expect([actionCountOf(draftOf(stored)), actionCountOf(changed)]).toEqual([3, 2]);
  });

  it('shows only channels that get a notification, and only labels that are set', () => {
    const { channelIds, alsoKeywordChannels, labels } = draftOf(
      rule({ then: [{ type: 'notify' }, { type: 'webhook', channelIds: ['a'], label: 'starred' }] }),
    );
    expect([channelIds, alsoKeywordChannels, labels]).toEqual([[], false, []]);
  });

  it.each<[number, string, Partial<RuleDraft>]>([
    [1, 'all channels of the keyword', { actions: ['notify'], alsoKeywordChannels: true }],
    [1, 'two channels', { actions: ['notify'], channelIds: ['a', 'b'] }],
    [
      2,
      'a channel and all channels of the keyword',
      { actions: ['notify'], channelIds: ['a'], alsoKeywordChannels: true },
    ],
    [1, 'five channels', { actions: ['notify'], channelIds: ['a', 'b', 'c', 'd', 'e'] }],
    [2, 'six channels', { actions: ['notify'], channelIds: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    [2, 'two labels', { actions: ['mark'], labels: ['starred', 'flagged'] }],
    [1, 'a label that is not chosen yet', { actions: ['mark'], labels: [] }],
    [
      5,
      'a channel, all channels of the keyword, the webhook, a label and stop',
      { actions: ['notify', 'webhook', 'mark', 'stop'], channelIds: ['a'], alsoKeywordChannels: true },
    ],
  ])('has %i actions, as the API counts them, with %s', (count, _, more) => {
    expect(actionCountOf({ ...newRule(), ...more })).toBe(count);
  });

  it.each<[string, RuleDraft['actions'][number], Partial<RuleDraft>, Partial<RuleDraft>]>([
    [
      'three labels beside two other actions',
      'mark',
      { actions: ['webhook', 'stop'], labels: ['starred', 'flagged', 'hidden'] },
      { labels: ['starred', 'flagged'] },
    ],
    [
      'three labels beside three other actions',
      'mark',
      { actions: ['notify', 'webhook', 'stop'], labels: ['starred', 'flagged', 'hidden'] },
      { labels: ['starred'] },
    ],
    [
      'a channel and all channels of the keyword beside three other actions',
      'notify',
      {
        actions: ['webhook', 'mark', 'stop'],
        labels: ['starred'],
        channelIds: ['a', 'b'],
        alsoKeywordChannels: true,
      },
      { channelIds: ['a', 'b'], alsoKeywordChannels: false },
    ],
    [
      'six channels and all channels of the keyword beside three other actions',
      'notify',
      {
        actions: ['webhook', 'mark', 'stop'],
        labels: ['starred'],
        channelIds: ['a', 'b', 'c', 'd', 'e', 'f'],
        alsoKeywordChannels: true,
      },
      { channelIds: ['a', 'b', 'c', 'd', 'e'], alsoKeywordChannels: false },
    ],
    [
      'six channels beside three other actions',
      'notify',
      {
        actions: ['webhook', 'mark', 'stop'],
        labels: ['starred'],
        channelIds: ['a', 'b', 'c', 'd', 'e', 'f'],
      },
      { channelIds: ['a', 'b', 'c', 'd', 'e'] },
    ],
  ])(
    'offers a removed action that had %s, and drops what exceeds the limit when the action is chosen again',
    (_, type, before, after) => {
      const draft = { ...newRule(), ...before };
      expect(isOffered(draft, type)).toBe(true);
      const again = withActions(draft, [...draft.actions, type]);
      expect(again).toEqual({ ...draft, ...after, actions: [...draft.actions, type] });
      expect(actionCountOf(again)).toBe(MAX_ACTIONS);
    },
  );

  it('keeps the labels and channels of an action that is removed and then chosen a second time', () => {
    const draft: RuleDraft = {
      ...newRule(),
      ...{ actions: ['notify', 'mark'], labels: ['starred', 'flagged'] },
      ...{ channelIds: ['a'], alsoKeywordChannels: true },
    };
    for (const actions of [['mark'], ['notify']] satisfies RuleDraft['actions'][])
      expect(withActions(withActions(draft, actions), draft.actions)).toEqual(draft);
  });

  it('offers no further action if it has four actions', () => {
    const draft: RuleDraft = {
      ...newRule(),
      actions: ['notify', 'mark', 'stop'],
      labels: ['starred', 'flagged'],
    };
    expect([isOffered(draft, 'webhook'), isOffered(draft, 'mark')]).toEqual([false, true]);
  });
});
