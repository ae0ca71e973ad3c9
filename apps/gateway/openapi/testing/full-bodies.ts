import 'reflect-metadata';
import { fullKeyword, type Json } from '../../api/keywords/testing/keyword-body-under-test.js';

// Only for specs.

export const ID = '0190a0b0-0000-7000-8000-0000000000b1';
export const AI_STEP = {
  instruction: 'Read it.',
  schema: {
    mood: { type: 'enum', values: ['good', 'bad'] },
    name: { type: 'string', description: 'The product', maxLength: 20 },
  },
};
export const CRITERIA = {
  market: 'global',
  query: 'acme',
  priceMin: 1,
  priceMax: 2.5,
  sort: 'new',
  page: 1,
  perPage: 20,
  filters: { any: [1] },
  match: 'word',
  terms: ['acme', 'apex'],
  repliesTo: '@acme',
};

/** Bodies with a value for every key, by the name of their schema. */
export const FULL: Readonly<Record<string, Json>> = {
  KeywordBody: {
    ...fullKeyword(),
    globalCriteria: CRITERIA,
    webhookUrl: 'https://example.com/hook',
    aiEnabled: true,
    aiPreset: 'seller',
    aiPrompt: 'Read it.',
    aiStep: AI_STEP,
    sentimentEnabled: true,
    coBrandsEnabled: false,
    subjectRole: 'own',
    muteRules: ['spam', { value: 'casino', target: 'text', source: 'reddit', match: 'word' }],
    vipAuthors: ['ada', { handle: 'grace', source: null, note: 'admiral' }],
    rules: [
      {
        id: ID,
        name: 'loud',
        enabled: true,
        source: 'reddit',
        when: { kind: 'item', all: [{ field: 'likes', op: 'gt', value: 10 }] },
        then: [{ type: 'mark', label: 'starred' }],
      },
      {
        name: 'many',
        when: { kind: 'volume', window: '1h', min: 5, multiple: 2 },
        then: [{ type: 'notify', channelIds: [ID] }],
      },
    ],
    webhookMode: 'all',
    webhookEvents: ['keyword.paused'],
    spikeAlert: 'low',
    backfill: true,
    schedule: { startsAt: '2026-03-01T12:00:00Z', endsAt: null, timezone: 'Europe/Berlin' },
  },
  BacktestBody: {
    since: '2026-03-01',
    muteRules: ['spam', { value: 'casino' }],
    vipAuthors: ['ada'],
    rules: [
      {
        name: 'loud',
        when: { kind: 'item', all: [{ field: 'likes', op: 'gt', value: 10 }] },
        then: [{ type: 'stop' }],
      },
    ],
    spikeAlert: 'low',
    minRelevance: 40,
  },
  WatchBody: {
    market: 'global',
    criteria: CRITERIA,
    refreshIntervalSeconds: 600,
    webhookUrl: 'https://example.com/hook',
    ai: AI_STEP,
    analysis: true,
    backfill: false,
  },
  WatchChange: { refreshIntervalSeconds: 600, webhookUrl: null, isActive: true },
  MentionChange: { labels: ['starred'], sentiment: 'positive', intent: null, relevance: 50 },
  AccountChange: { name: 'Acme', timezone: 'Europe/Berlin', signatureVersion: 'legacy' },
  ReplayBody: {
    since: '2026-03-01',
    until: '2026-03-02T10:00:00+01:00',
    keywordId: ID,
    watchId: ID,
    url: 'https://example.com/hook',
    types: ['hn_item.created'],
    ratePerSecond: 10,
  },
  ResendBody: { url: 'https://example.com/hook' },
  EnableBody: { url: 'https://example.com/hook' },
  WebhookTestBody: { url: 'https://example.com/hook', type: 'hn_item.created' },
  TweetIds: { ids: ['1212092628029698048'] },
};
