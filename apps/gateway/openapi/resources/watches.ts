import type { Route } from '../operation.js';
import { inPath, paging, since, SOURCE_IN_PATH } from '../parameters.js';
import {
  BOOLEAN,
  ID,
  INSTANT,
  INTEGER,
  nullable,
  object,
  pageOf,
  ref,
  TEXT,
  told,
  type Schema,
} from '../schema.js';
import { INTERVAL, SOURCE } from './criteria.js';

const webhookUrl = nullable({ type: 'string', maxLength: 2048 });

export const watchSchemas: Readonly<Record<string, Schema>> = {
  WatchBody: told(
    'In snake_case it is `WatchBodyInSnakeCase`; the two may be mixed, but no key may stand in both.',
    object(
      { criteria: ref('Criteria'), refreshIntervalSeconds: INTERVAL },
      {
        market: told('May stand here, or in `criteria`; `global` unless given', {
          type: 'string',
          minLength: 1,
        }),
        webhookUrl: told('Where its events are pushed to; empty or null: nowhere', webhookUrl),
        ai: nullable(ref('AgentStep')),
        analysis: BOOLEAN,
        backfill: BOOLEAN,
      },
    ),
  ),
  WatchChange: object({}, { refreshIntervalSeconds: INTERVAL, webhookUrl, isActive: BOOLEAN }),
  Watch: object({
    id: ID,
    accountId: ID,
    keywordId: told('Of a keyword’s own watch: it changes with the keyword alone', nullable(ID)),
    source: SOURCE,
    market: TEXT,
    criteria: ref('Criteria'),
    criteriaHash: told('What makes it the same search: SHA-256', TEXT),
    refreshIntervalSeconds: INTEGER,
    webhookUrl: nullable(TEXT),
    ai: nullable(ref('AgentStep')),
    analysis: BOOLEAN,
    backfill: BOOLEAN,
    billingMode: { const: 'subscription' },
    isActive: BOOLEAN,
    pausedReason: nullable(TEXT),
    createdAt: INSTANT,
    updatedAt: INSTANT,
    lastCheckedAt: nullable(INSTANT),
    lastStatus: nullable(TEXT),
  }),
};

const at = [SOURCE_IN_PATH, inPath('id', 'The watch')];
const common = { tag: 'Watches' } as const;

export const watchRoutes: readonly Route[] = [
  {
    ...common,
    method: 'post',
    path: '/v1/{source}/watches',
    operationId: 'createWatch',
    summary: 'Watch one source',
    parameters: [SOURCE_IN_PATH],
    body: ref('WatchBody'),
    example: { criteria: { query: 'acme' }, refresh_interval_seconds: 3600 },
    status: 201,
    answer: ref('Watch'),
  },
  {
    ...common,
    method: 'get',
    path: '/v1/{source}/watches',
    operationId: 'listWatches',
    summary: 'Watches of a source, those of keywords among them, newest first',
    parameters: [SOURCE_IN_PATH, ...paging()],
    answer: pageOf('watches', ref('Watch')),
  },
  {
    ...common,
    method: 'get',
    path: '/v1/{source}/watches/{id}',
    operationId: 'getWatch',
    summary: 'A watch',
    parameters: at,
    answer: ref('Watch'),
  },
  {
    ...common,
    method: 'patch',
    path: '/v1/{source}/watches/{id}',
    operationId: 'changeWatch',
    summary: 'Change a watch’s interval or webhook, or pause it',
    parameters: at,
    body: ref('WatchChange'),
    example: { is_active: false },
    answer: ref('Watch'),
    refusals: [402],
  },
  {
    ...common,
    method: 'get',
    path: '/v1/{source}/watches/{id}/activity',
    operationId: 'activityOfWatch',
    summary: 'What a watch did: checks and deliveries, newest first',
    parameters: [...at, since('7 days ago'), ...paging(500, 100)],
    answer: pageOf('activity', ref('Activity')),
  },
  {
    ...common,
    method: 'delete',
    path: '/v1/{source}/watches/{id}',
    operationId: 'deleteWatch',
    summary: 'End a watch; its events stay readable',
    parameters: at,
    status: 204,
  },
];
