import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { KeywordDefinitionSchema, KeywordEventSchema, WatchSchema } from '#contracts';
import { givenFor } from '#testing';
import { decide } from './keyword.js';
import type { KeywordCommand, DuplicateWatch } from './keyword-command.js';
import { evolve, nothingYet } from './keyword-state.js';

const event = (init: MessageInitShape<typeof KeywordEventSchema>['event']) =>
  create(KeywordEventSchema, { event: init });
const duplicate: DuplicateWatch = { watchId: 'w9', keyword: undefined };
const definition = create(KeywordDefinitionSchema, { name: 'Acme' });
const watch = (criteriaHash: string, source = 'rss') =>
  create(WatchSchema, { watchId: `w-${criteriaHash}`, source, criteriaHash, intervalSeconds: 600 });

const createKeyword: Extract<KeywordCommand, { kind: 'create-keyword' }> = {
  kind: 'create-keyword',
  definition,
  watches: [watch('1'), watch('2')],
  scheduled: true,
  creditsRemaining: 100,
};
const keywordCreated = event({
  case: 'keywordCreated',
  value: { definition, watches: [watch('1'), watch('2')] },
});
const keywordRetired = event({ case: 'keywordRetired', value: {} });
const createWatch: Extract<KeywordCommand, { kind: 'create-watch' }> = {
  kind: 'create-watch',
  watch: watch('1'),
  webhookUrl: 'https://example.org/',
  ai: undefined,
  analysis: true,
  duplicate: undefined,
};
const watchCreated = event({
  case: 'watchCreated',
  value: { watch: watch('1'), webhookUrl: 'https://example.org/', analysis: true },
});
const watchRetired = event({ case: 'watchRetired', value: {} });
const watchChanged = (value: { intervalSeconds?: number; webhookUrl?: string; isActive?: boolean }) =>
  event({ case: 'watchChanged', value });
const change = (more: Partial<Extract<KeywordCommand, { kind: 'change-watch' }>>): KeywordCommand => ({
  kind: 'change-watch',
  intervalSeconds: undefined,
  webhookUrl: undefined,
  isActive: undefined,
  duplicate: undefined,
  creditsRemaining: 100,
  ...more,
});

const given = givenFor({ decide, evolve, initial: nothingYet });

const NOT_FOUND = { kind: 'not-found', code: 'NOT_FOUND' } as const;
const CONFLICT = { kind: 'conflict', code: 'CONFLICT' } as const;
const DUPLICATE = { kind: 'conflict', code: 'DUPLICATE_SEARCH' } as const;

describe('a keyword', () => {
  it('is created with its watches', () => given().when(createKeyword).then([keywordCreated]));
  it('cannot be created twice', () => given(keywordCreated).when(createKeyword).then(CONFLICT));
  it('cannot contain the same search twice', () =>
    given()
      .when({ ...createKeyword, watches: [watch('1'), watch('2'), watch('1')] })
      .then(DUPLICATE));
  it('can have no search, because all its sources can be disabled', () =>
    given()
      .when({ ...createKeyword, watches: [] })
      .then([event({ case: 'keywordCreated', value: { definition, watches: [] } })]));
  it('can be retired', () => given(keywordCreated).when({ kind: 'retire-keyword' }).then([keywordRetired]));
  it('stays unchanged if it is retired a second time', () =>
    given(keywordCreated, keywordRetired).when({ kind: 'retire-keyword' }).then([]));
  it('cannot be retired if it does not exist', () =>
    given().when({ kind: 'retire-keyword' }).then(NOT_FOUND));
  it('is not found by a command on a watch, and a watch is not found by a command on a keyword', () => {
    given(keywordCreated).when({ kind: 'retire-watch' }).then(NOT_FOUND);
    given(keywordCreated)
      .when(change({ isActive: false }))
      .then(NOT_FOUND);
    given(watchCreated).when({ kind: 'retire-keyword' }).then(NOT_FOUND);
  });
});

describe('a lone watch', () => {
  it('is created', () => given().when(createWatch).then([watchCreated]));
  it('cannot be created twice', () => given(watchCreated).when(createWatch).then(CONFLICT));
  it('cannot be created if an active watch has the same search', () =>
    given()
      .when({ ...createWatch, duplicate })
      .then(DUPLICATE));
  it('changes only the fields that are given', () => {
    given(watchCreated)
      .when(change({ intervalSeconds: 60 }))
      .then([watchChanged({ intervalSeconds: 60 })]);
    given(watchCreated)
      .when(change({ webhookUrl: '' }))
      .then([watchChanged({ webhookUrl: '' })]);
    given(watchCreated)
      .when(change({ intervalSeconds: 60, webhookUrl: 'https://example.org/2', isActive: false }))
      .then([watchChanged({ intervalSeconds: 60, webhookUrl: 'https://example.org/2', isActive: false })]);
  });
  it('stays unchanged if the given values equal its current values', () => {
    given(watchCreated)
      .when(change({ intervalSeconds: 600, webhookUrl: 'https://example.org/', isActive: true }))
      .then([]);
    given(watchCreated, watchChanged({ isActive: false, intervalSeconds: 60, webhookUrl: '' }))
      .when(change({ isActive: false, intervalSeconds: 60, webhookUrl: '' }))
      .then([]);
  });
  it('can be resumed, unless an active watch has the same search', () => {
    const paused = [watchCreated, watchChanged({ isActive: false })];
    given(...paused)
      .when(change({ isActive: true }))
      .then([watchChanged({ isActive: true })]);
    given(...paused)
      .when(change({ isActive: true, duplicate }))
      .then(DUPLICATE);
    given(...paused)
      .when(change({ intervalSeconds: 60, duplicate }))
      .then([watchChanged({ intervalSeconds: 60 })]);
  });
  it('is retired only once', () => {
    given(watchCreated).when({ kind: 'retire-watch' }).then([watchRetired]);
    given(watchCreated, watchRetired).when({ kind: 'retire-watch' }).then([]);
    given().when({ kind: 'retire-watch' }).then(NOT_FOUND);
  });
  it('cannot be changed after it was retired', () =>
    given(watchCreated, watchRetired)
      .when(change({ isActive: true }))
      .then(NOT_FOUND));
});
