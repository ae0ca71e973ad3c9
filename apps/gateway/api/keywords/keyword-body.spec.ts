import { SOURCE_IDS } from '#contracts';
import {
  chars,
  faultsOfKeyword,
  fullKeyword,
  minimalKeyword,
  many,
  withValue,
  type Json,
} from './testing/keyword-body-under-test.js';

const uuid = '0190a0b0-0000-7000-8000-000000000000';
const instant = '2026-03-04T05:06:07Z';
const search = 'sources[0].searches[0]';
/**
 * Returns the given number of different words. These tests check only the form of a body, so any words are suitable.
 */
const words = (count: number) => many(count, (index) => `word ${index}`);

/**
 * Fields of the create body, with values that are accepted. `keyword-rules.spec.ts` tests the rules and the agent step.
 */
const ACCEPTED: [path: string, values: Json[]][] = [
  ['name', ['A', chars(80), '😀'.repeat(80)]],
  ['refreshIntervalSeconds', [1, 31_536_000]],
  ['globalCriteria.market', ['x']],
  ['globalCriteria.query', ['acme', chars(512)]],
  ['globalCriteria.priceMin', [0, 0.5]],
  ['globalCriteria.priceMax', [0, 10.25]],
  ['globalCriteria.sort', ['', 'newest']],
  ['globalCriteria.page', [1]],
  ['globalCriteria.perPage', [100]],
  ['globalCriteria.filters', [{}, { 'Any Key': [1, { deep_key: null }] }, { a: chars(16 * 1024 - 8) }]],
  ['globalCriteria.match', ['platform', 'word', 'contains']],
  ['globalCriteria.terms', [words(2), words(50), ['x', chars(60)], undefined]],
  ['globalCriteria.repliesTo', ['x', chars(16)]],
  [
    'webhookUrl',
    [undefined, null, '', 'https://example.org/hook?a=b', `http://example.org/${chars(2048 - 19)}`],
  ],
  ['aiEnabled', [undefined, true, false]],
  ['aiPreset', [undefined, null, 'product-model', 'theme-sentiment', 'seller', 'duplicates', 'custom']],
  ['aiPrompt', [undefined, null, '', chars(400)]],
  ['aiStep', [undefined, null]],
  ['sentimentEnabled', [undefined, true, false]],
  ['coBrandsEnabled', [undefined, true, false]],
  ['subjectRole', [undefined, 'own', 'competitor', 'topic']],
  ['muteRules', [undefined, [], many(50, (n) => `spam ${n}`), ['x', chars(60)]]],
  ['muteRules[1].value', ['x', chars(60)]],
  ['muteRules[1].target', [undefined, 'text', 'title', 'body', 'author', 'community']],
  ['muteRules[1].source', [undefined, null, ...SOURCE_IDS]],
  ['muteRules[1].match', [undefined, 'word', 'contains', 'exact']],
  ['vipAuthors', [undefined, [], many(100, (n) => `vip ${n}`), ['x', chars(60)]]],
  ['vipAuthors[1].handle', ['x', chars(60)]],
  ['vipAuthors[1].source', [undefined, null, ...SOURCE_IDS]],
  ['vipAuthors[1].note', [undefined, null, '', chars(120)]],
  ['webhookMode', [undefined, 'all', 'rules']],
  [
    'webhookEvents',
    [
      undefined,
      [],
      [
        'keyword.alert_fired',
        'keyword.report_ready',
        'keyword.paused',
        'keyword.resumed',
        'channel.disabled',
      ],
    ],
  ],
  ['channels', [undefined, [], many(5, () => ({ channelId: uuid, mode: 'daily' }))]],
  ['channels[0].mode', ['instant', 'hourly', 'daily', 'daily_brief', 'weekly_report']],
  ['spikeAlert', [undefined, null, 'low', 'medium', 'high']],
  ['backfill', [undefined, true, false]],
  ['minRelevance', [undefined, null, 0, 100]],
  ['languages', [undefined, null, [], ['en', 'pt-BR', 'zh-Hant', 'es-419']]],
  ['schedule', [undefined, null]],
  ['schedule.startsAt', [null, instant, '2026-03-04T05:06:07', '2026-03-04T05:06:07+02:00']],
  ['schedule.endsAt', [null, instant, '9999-12-31T23:59:59']],
  ['schedule.timezone', ['UTC', 'America/Argentina/ComodRivadavia']],
  ['sources[0].enabled', [true, false]],
  ['sources[0].searches', [undefined, []]],
  ['sources[0].refreshIntervalSeconds', [undefined, null, 1]],
  [`${search}.id`, [undefined, uuid]],
  [`${search}.label`, [undefined, null, '', chars(80)]],
  [`${search}.overridesEnabled`, [undefined, true, false]],
  [`${search}.overrides`, [undefined, {}]],
  [`${search}.overrides.market`, [undefined, 'x']],
  [`${search}.overrides.terms`, [words(2)]],
  [`${search}.overrides.repliesTo`, [chars(16)]],
];

/** Fields of the create body, with values that are refused. The fault has the path of the field. */
const REFUSED: [path: string, values: Json[]][] = [
  ['name', [undefined, null, 5, '', chars(81), ['x']]],
  ['refreshIntervalSeconds', [undefined, null, 0, -1, 1.5, '60', 31_536_001]],
  ['globalCriteria', [undefined, null, 'x', []]],
  ['globalCriteria.market', [undefined, null, '', 1]],
  ['globalCriteria.query', [null, 1, {}, chars(513)]],
  ['globalCriteria.priceMin', [null, '1', true, -1]],
  ['globalCriteria.priceMax', [null, '1', -0.5]],
  ['globalCriteria.sort', [null, 1]],
  ['globalCriteria.page', [null, '1', 0, -1, 1.5]],
  ['globalCriteria.perPage', [null, '1', 0]],
  ['globalCriteria.filters', [null, 'x', [], { a: chars(16 * 1024 - 7) }]],
  ['globalCriteria.match', [null, '', 'exact', 'WORD']],
  [
    'globalCriteria.terms',
    [null, 'x', [], ['one'], words(501), ['a', ''], ['a', chars(61)], ['a', 1], ['a', null]],
  ],
  ['globalCriteria.repliesTo', [null, '', chars(17), 1]],
  [
    'webhookUrl',
    [
      1,
      'example.org',
      'ftp://example.org',
      'javascript:1',
      `http://example.org/${chars(2048 - 18)}`,
      'https://user:secret@example.org/',
      'https://user@example.org/',
      'https://example.org:0/',
    ],
  ],
  ['aiEnabled', [null, 'true', 1]],
  ['aiPreset', ['', 'other', 1]],
  ['aiPrompt', [chars(401), 1]],
  ['aiStep', ['x', []]],
  ['sentimentEnabled', [null, 'true']],
  ['coBrandsEnabled', [null, 0]],
  ['subjectRole', [null, '', 'rival']],
  ['muteRules', [null, {}, 'x', many(51, (n) => `spam ${n}`)]],
  ['muteRules[1]', [null, 5, ['x']]],
  ['muteRules[1].value', [undefined, null, '', chars(61), 1]],
  ['muteRules[1].target', [null, '', 'url']],
  ['muteRules[1].source', ['', 'facebook']],
  ['muteRules[1].match', [null, 'regex']],
  ['vipAuthors', [null, {}, many(101, (n) => `vip ${n}`)]],
  ['vipAuthors[1]', [null, 5, ['x']]],
  ['vipAuthors[1].handle', [undefined, null, '', chars(61)]],
  ['vipAuthors[1].source', ['facebook']],
  ['vipAuthors[1].note', [chars(121), 1]],
  ['webhookMode', [null, '', 'none']],
  ['webhookEvents', [null, ['keyword.made'], many(6, () => 'keyword.paused')]],
  ['channels', [null, {}, many(6, () => ({ channelId: uuid, mode: 'daily' }))]],
  ['channels[0]', [null, 'x', [], [{ channelId: uuid, mode: 'daily' }]]],
  ['channels[0].channelId', [undefined, null, 'x', 1]],
  ['channels[0].mode', [undefined, null, 'never']],
  ['spikeAlert', ['', 'off']],
  ['backfill', [null, 'true']],
  ['minRelevance', [-1, 101, 1.5, '50']],
  ['languages', ['en', Array.from({ length: 11 }, () => 'en')]],
  ['languages[0]', ['english language', '', 1]],
  ['schedule', ['x', []]],
  ['schedule.startsAt', [undefined, '', 'tomorrow', '2026-02-30T00:00:00Z', '9999-12-31T23:59:59-00:01', 5]],
  ['schedule.endsAt', [undefined, 'later']],
  ['schedule.timezone', [undefined, null, '', chars(65), 'Mars/Olympus']],
  ['sources', [undefined, null, {}, []]],
  ['sources[0]', [null, 'rss', 5, [], [{ source: 'rss', enabled: true }]]],
  ['sources[0].source', [undefined, null, '', 'facebook', 'RSS', ['rss']]],
  ['sources[0].enabled', [undefined, null, 'true']],
  ['sources[0].searches', [null, {}]],
  ['sources[0].refreshIntervalSeconds', [0, 1.5, '60', 31_536_001, 3_000_000_000]],
  [search, [null, 'x', [], [{}]]],
  [`${search}.id`, [null, '', 'x']],
  [`${search}.label`, [chars(81), 1]],
  [`${search}.overridesEnabled`, [null, 1]],
  [`${search}.overrides`, [null, 'x', []]],
  [`${search}.overrides.market`, [null, '']],
  [`${search}.overrides.terms`, [['one'], null]],
  [`${search}.overrides.match`, ['fuzzy']],
  [`${search}.overrides.filters`, [null, 5]],
  [`${search}.overrides.repliesTo`, ['', chars(17)]],
];

const labelled = (values: Json[]) =>
  values.map((value) => [(JSON.stringify(value) ?? 'left out').slice(0, 60), value] as const);

describe('the validation of a keyword’s create body', () => {
  it('accepts the smallest body, and a body with mutes, VIPs, rules, channels, an agent step and a schedule', () => {
    expect(faultsOfKeyword(minimalKeyword())).toEqual([]);
    expect(faultsOfKeyword(fullKeyword())).toEqual([]);
  });

  describe.each(ACCEPTED)('accepts the key %s', (path, values) => {
    it.each(labelled(values))(
      'with the value %s [limits.name, limits.lists, limits.mute-value, limits.term, limits.vip, limits.search-label, limits.ai-prompt, limits.replies-to, limits.terms, requests.offsets]',
      (_, value) => {
        expect(faultsOfKeyword(withValue(fullKeyword(), path, value))).toEqual([]);
      },
    );
  });

  describe.each(REFUSED)('refuses the key %s', (path, values) => {
    it.each(labelled(values))(
      'with the value %s, and the only fault has the path of this key [limits.name, limits.lists, limits.mute-value, limits.term, limits.vip, limits.search-label, limits.ai-prompt, limits.replies-to, limits.terms, keywords.timezone]',
      (_, value) => {
        const paths = faultsOfKeyword(withValue(fullKeyword(), path, value)).map((fault) => fault.path);
        // A fault in `terms` can have the path of one term, but the table contains the path of the list.
        const listPaths = paths.map((one) => one.replace(/^(globalCriteria\.terms)\[\d+\]$/, '$1'));
        expect([...new Set(listPaths)]).toEqual([path]);
      },
    );
  });

  it.each([
    '',
    'globalCriteria',
    'sources[0]',
    search,
    `${search}.overrides`,
    'muteRules[1]',
    'vipAuthors[1]',
    'channels[0]',
    'schedule',
  ])('names an unknown key at %j [requests.unknown-key]', (parent) => {
    const path = parent === '' ? 'colour' : `${parent}.colour`;
    expect(faultsOfKeyword(withValue(fullKeyword(), path, 'red'))).toEqual([
      { path, message: 'is not a known key' },
    ]);
  });

  it('reports all faults together, including faults in nested objects [requests.all-faults]', () => {
    let body: Json = fullKeyword();
    body = withValue(body, 'name', '');
    body = withValue(body, 'globalCriteria.match', 'fuzzy');
    body = withValue(body, 'sources[0].searches[0].label', 5);
    body = withValue(body, 'vipAuthors[1].handle', undefined);
    body = withValue(body, 'colour', 'red');
    expect([...new Set(faultsOfKeyword(body).map(({ path }) => path))].sort()).toEqual([
      'colour',
      'globalCriteria.match',
      'name',
      'sources[0].searches[0].label',
      'vipAuthors[1].handle',
    ]);
  });

  it('names the index of each faulty term', () => {
    const terms = ['a', 5, 'x'.repeat(61), '', ['b']];
    expect(faultsOfKeyword({ ...minimalKeyword(), globalCriteria: { market: 'm', terms } })).toEqual([
      { path: 'globalCriteria.terms[1]', message: 'must be a string' },
      { path: 'globalCriteria.terms[2]', message: 'must have 1 to 60 characters' },
      { path: 'globalCriteria.terms[3]', message: 'must have 1 to 60 characters' },
      { path: 'globalCriteria.terms[4]', message: 'must be a string' },
    ]);
    const duplicates = ['a', ' \t', 'b', 'A'];
    expect(
      faultsOfKeyword({ ...minimalKeyword(), globalCriteria: { market: 'm', terms: duplicates } }),
    ).toEqual([
      { path: 'globalCriteria.terms[1]', message: 'must not be blank' },
      { path: 'globalCriteria.terms[3]', message: 'is the same term as terms[0]' },
    ]);
  });

  it('checks the values of all keys even if the type of one key is wrong', () => {
    const body = {
      ...minimalKeyword(),
      sources: undefined,
      globalCriteria: { market: 'm', terms: ['a', 'A'] },
    };
    expect(faultsOfKeyword(body).map(({ path }) => path)).toEqual(['sources', 'globalCriteria.terms[1]']);
    const missing = withValue(
      withValue(minimalKeyword(), 'sources[0].source', 'x'),
      'globalCriteria.query',
      undefined,
    );
    expect(faultsOfKeyword(missing)).toMatchObject([
      { path: 'sources[0].source', message: expect.stringMatching(/^x is not configured/) as string },
      { path: 'globalCriteria.query' },
    ]);
  });

  it.each<[string, Json, Json, string]>([
    [
      'the global criteria, if only they contain the faulty key',
      ['ftp://x'],
      undefined,
      'globalCriteria.filters.feed_urls',
    ],
    [
      'the search, if its overrides contain the faulty key',
      ['ftp://x'],
      ['ftp://y'],
      'sources[0].searches[0].overrides.filters.feed_urls',
    ],
    [
      'the search, if a required key is missing',
      undefined,
      undefined,
      'sources[0].searches[0].overrides.filters.feed_urls',
    ],
  ])('reports a fault that a source finds in its criteria, with the path of %s', (_, global, own, path) => {
    const body = {
      ...minimalKeyword(),
      globalCriteria: { market: 'm', query: 'q', ...(global && { filters: { feed_urls: global } }) },
      sources: [
        {
          source: 'rss',
          enabled: true,
          searches: [{ overrides: own ? { filters: { feed_urls: own } } : {} }],
        },
      ],
    };
    expect(faultsOfKeyword(body).map((fault) => fault.path)).toEqual([path]);
  });

  it.each<[string, Json, string, string]>([
    ['muteRules', ['spam', 5], 'muteRules[1]', 'must be a string or an object'],
    ['vipAuthors', [null], 'vipAuthors[0]', 'must be a string or an object'],
    ['sources', [5], 'sources[0]', 'must be an object'],
    ['globalCriteria.priceMin', 'a', 'globalCriteria.priceMin', 'must be a number'],
    ['name', null, 'name', 'must be a string, and cannot be null'],
    ['rules[1].id', '0190A0B0-0000-7000-8000-00000000000a', 'rules[1].id', 'is used twice'],
  ])(
    'refuses the key %s with the value %j, and reports the path of the fault and a message',
    (path, value, at, message) => {
      const body = withValue(fullKeyword(), 'rules[0].id', '0190a0b0-0000-7000-8000-00000000000a');
      expect(faultsOfKeyword(withValue(body, path, value))).toContainEqual({ path: at, message });
    },
  );
});
