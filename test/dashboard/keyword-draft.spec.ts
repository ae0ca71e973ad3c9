import { bodyOf, draftOf, type KeywordBody } from '../../apps/dashboard/pages/keyword-editor/draft.js';

type Keyword = Parameters<typeof draftOf>[0];

const BODY: KeywordBody = {
  ...{ name: 'Lumora', refreshIntervalSeconds: 600, subjectRole: 'own', backfill: true },
  globalCriteria: { market: 'global', query: 'lumora', terms: ['lamp', 'light, bright'] },
  sources: [{ source: 'hackernews', enabled: true, refreshIntervalSeconds: null, searches: [] }],
  ...{ webhookUrl: null, webhookMode: 'all', webhookEvents: [], channels: [], spikeAlert: 'high' },
  ...{ sentimentEnabled: true, coBrandsEnabled: false, aiEnabled: false, aiPreset: null, aiPrompt: null },
  ...{ aiStep: null, muteRules: [], vipAuthors: [], rules: [], minRelevance: 0, languages: null },
  schedule: null,
};

const search = (overrides: object) => ({ id: 's1', label: null, overridesEnabled: true, overrides });

describe('a keyword in the editor', () => {
  it.each<[string, Partial<KeywordBody>]>([
    ['no special value', {}],
    ['no spike alert', { spikeAlert: null }],
    [
      'a search that replaces the query of the keyword by none',
      {
        sources: [
          {
            ...{ source: 'reddit', enabled: true, refreshIntervalSeconds: 60 },
            searches: [search({ query: '', sort: '' })],
          },
        ],
      },
    ],
    [
      'a search with a query in spaces',
      {
        sources: [
          {
            ...{ source: 'reddit', enabled: true, refreshIntervalSeconds: 60 },
            searches: [search({ query: ' a ' })],
          },
        ],
      },
    ],
    [
      'an agent step with every kind of field',
      {
        aiStep: {
          instruction: ' Read it. ',
          schema: {
            ' code ': { type: 'string', maxLength: 20, values: ['a'] },
            mood: { type: 'enum', values: ['good, or so', ' bad '], description: '' },
            rank: { type: 'number', description: 'From 1 to 5', maxLength: 3, values: ['1'] },
            urgent: { type: 'boolean' },
          },
        },
        rules: [
          {
            ...{ id: 'r1', name: 'One', enabled: true, source: null },
            when: {
              kind: 'item',
              all: [
                { field: 'ai.mood', op: 'in', value: ['good, or so', 'bad'] },
                { field: 'ai. code ', op: 'eq', value: '007' },
                { field: 'ai.rank', op: 'gte', value: 3 },
              ],
            },
            then: [{ type: 'webhook' }],
          },
        ],
      },
    ],
  ])('is sent back unchanged if it has %s', (_, more) => {
    const stored = { ...BODY, ...more };
    expect(bodyOf(draftOf(stored as Keyword))).toEqual(stored);
  });
});
