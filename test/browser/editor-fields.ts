import type { Locator, Page } from 'playwright-core';

/** A field of the editor: its section, its label, and its index (from 0) if several fields have this label. */
type Field = readonly [section: string, label: string, place?: number];

const WHAT = 'What to listen for';
const WHERE = 'Where';
const READ = 'How to read mentions';
const NOISE = 'Mutes and VIPs';
const SEND = 'Where to send mentions';
const RULES = 'Rules';
const WHEN = 'When';

const criteria = (path: string, section: string): Record<string, Field> =>
  Object.fromEntries(
    Object.entries({
      market: 'Market',
      query: 'And all of this',
      priceMin: 'Price from',
      priceMax: 'Price to',
      sort: 'Sort',
      page: 'Page of the results',
      perPage: 'Results per page',
      filters: 'Filters of the sources (JSON)',
      match: 'Terms match',
      'terms[]': 'One of these must appear',
      repliesTo: 'Replies to',
    }).map(([key, label]) => [`${path}.${key}`, [section, label]]),
  );

/** For each value that a new keyword can have: its field in the editor. */
export const EDITOR_FIELDS: Readonly<Record<string, Field>> = {
  name: [WHAT, 'Name'],
  subjectRole: [WHAT, 'The subject is'],
  refreshIntervalSeconds: [WHAT, 'Look every'],
  ...criteria('globalCriteria', WHAT),
  'sources[].source': [WHERE, 'Vinted'],
  'sources[].enabled': [WHERE, 'Vinted'],
  'sources[].refreshIntervalSeconds': [WHERE, 'Look every'],
  'sources[].searches[].label': [WHERE, 'Name of the search'],
  'sources[].searches[].overridesEnabled': [WHERE, 'Use the criteria of this search'],
  ...criteria('sources[].searches[].overrides', WHERE),
  sentimentEnabled: [READ, 'Read sentiment and intent'],
  minRelevance: [READ, 'Relevance at least'],
  'languages[]': [READ, 'Languages'],
  aiEnabled: [READ, 'Sort mentions into buckets'],
  aiPreset: [READ, 'Buckets'],
  aiPrompt: [READ, 'What is relevant'],
  coBrandsEnabled: [READ, 'Find brands other than'],
  'aiStep.instruction': [READ, 'Instruction'],
  'aiStep.schema.*.type': [READ, 'Type'],
  'aiStep.schema.*.description': [READ, 'Description'],
  'aiStep.schema.*.values[]': [READ, 'Values'],
  'aiStep.schema.*.maxLength': [READ, 'Length at most'],
  'muteRules[].value': [NOISE, 'Mute 1'],
  'muteRules[].target': [NOISE, 'Where'],
  'muteRules[].match': [NOISE, 'How'],
  'muteRules[].source': [NOISE, 'Source'],
  'vipAuthors[].handle': [NOISE, 'VIP 1'],
  'vipAuthors[].note': [NOISE, 'Note'],
  'vipAuthors[].source': [NOISE, 'Source', 1],
  webhookUrl: [SEND, 'Webhook'],
  webhookMode: [SEND, 'The webhook gets'],
  'webhookEvents[]': [SEND, 'Send these events too'],
  'channels[].channelId': [SEND, 'Channel 1'],
  'channels[].mode': [SEND, 'When'],
  spikeAlert: [SEND, 'Spike alert'],
  'rules[].name': [RULES, 'Rule 1'],
  'rules[].enabled': [RULES, 'On'],
  'rules[].source': [RULES, 'Source'],
  'rules[].when.kind': [RULES, 'About'],
  'rules[].when.all[].field': [RULES, 'Clause 1: field'],
  'rules[].when.all[].op': [RULES, 'Clause 1: comparison'],
  'rules[].when.all[].value.text': [RULES, 'Clause 1: value'],
  'rules[].when.all[].value.threshold': [RULES, 'Clause 1: how similar'],
  'rules[].when.window': [RULES, 'Within'],
  'rules[].when.min': [RULES, 'At least this many'],
  'rules[].when.multiple': [RULES, 'And at least this many times the usual number'],
  'rules[].then[].type': [RULES, 'Notify'],
  'rules[].then[].channelIds[]': [RULES, 'Channels to notify'],
  'rules[].then[].label': [RULES, 'Labels to set'],
  backfill: [WHEN, 'Keep existing posts'],
  'schedule.startsAt': [WHEN, 'From'],
  'schedule.endsAt': [WHEN, 'Until'],
  'schedule.timezone': [WHEN, 'Time zone'],
};

/** The ids that Earshot gives to searches and rules. The editor has no fields for them. */
export const GIVEN_BY_EARSHOT = ['sources[].searches[].id', 'rules[].id'];

/** Returns the element of a field in the open editor. */
export const fieldOf = (page: Page, [section, label, place = 0]: Field): Locator =>
  page.getByRole('region', { name: section, exact: true }).getByLabel(label).nth(place);

/** With these values and one channel, the editor shows all its fields. */
export const FULL_KEYWORD = {
  globalCriteria: { market: 'fr', query: 'lamp', sort: 'newest' },
  sources: ['vinted', 'x', 'ai_answers'].map((source) => ({
    ...{ source, enabled: true },
    searches: [{ label: 'Own', overridesEnabled: true, overrides: { query: 'lamp' } }],
  })),
  aiStep: {
    instruction: 'Say which lamp it is.',
    schema: { model: { type: 'string' }, kind: { type: 'enum', values: ['desk', 'floor'] } },
  },
  muteRules: [{ value: 'giveaway', target: 'text', match: 'word', source: null }],
  vipAuthors: [{ handle: 'ada', source: null, note: null }],
  rules: [
    {
      ...{ id: '0190a0b0-0000-7000-8000-000000000001', name: 'Meaning', enabled: true, source: null },
      when: {
        kind: 'item',
        all: [{ field: 'text', op: 'similar_to', value: { text: 'it broke', threshold: 0.7 } }],
      },
      then: [{ type: 'notify' }, { type: 'mark', label: 'flagged' }],
    },
    {
      ...{ id: '0190a0b0-0000-7000-8000-000000000002', name: 'Volume', enabled: true, source: null },
      when: { kind: 'volume', window: '1h', min: 5, multiple: 2 },
      then: [{ type: 'notify' }],
    },
  ],
  schedule: { startsAt: '2099-01-01T00:00:00Z', endsAt: null, timezone: 'UTC' },
};
