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
  described,
  type Schema,
  SOURCE,
} from '../schema.js';

export const watchSchemas: Readonly<Record<string, Schema>> = {
  Watch: object({
    id: ID,
    accountId: ID,
    keywordId: described(
      'The keyword of the watch, or null. A watch of a keyword changes only with its keyword',
      nullable(ID),
    ),
    source: SOURCE,
    market: TEXT,
    criteria: ref('Criteria'),
    criteriaHash: described('SHA-256 that identifies the search', TEXT),
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
    lastStatus: described('`completed` or `failed`; null before the first check', nullable(TEXT)),
  }),
};

const at = [SOURCE_IN_PATH, inPath('id', 'Id of the watch')];
const common = { tag: 'Watches' } as const;

export const watchRoutes: readonly Route[] = [
  {
    ...common,
    method: 'post',
    path: '/v1/{source}/watches',
    operationId: 'createWatch',
    summary: 'Create a watch on one source',
    description:
      'A watch is one search on one source, without the mutes, rules and channels of a keyword. The first check of a watch is the baseline. A watch without `webhook_url` sends nothing; read its events instead. Returns 409 if the account already has a watch with the same search, unless a user has paused that watch or its keyword, or disabled its source in the keyword. Each check costs credits.',
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
    summary: 'List the watches of a source, including those of keywords, newest first',
    description: 'Deleted watches are not included. Free.',
    parameters: [SOURCE_IN_PATH, ...paging()],
    answer: pageOf('watches', ref('Watch')),
  },
  {
    ...common,
    method: 'get',
    path: '/v1/{source}/watches/{id}',
    operationId: 'getWatch',
    summary: 'Get a watch',
    description: 'Contains the time and the result of the last check. Free.',
    parameters: at,
    answer: ref('Watch'),
  },
  {
    ...common,
    method: 'patch',
    path: '/v1/{source}/watches/{id}',
    operationId: 'changeWatch',
    summary: 'Change the interval or webhook of a watch, or pause it',
    description:
      'A key that is absent in the body does not change. The search itself cannot be changed: create another watch. A watch of a keyword changes only with its keyword. Free.',
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
    summary: 'List the checks and deliveries of a watch, newest first',
    description:
      'Lists each check with the number of new events, its credits and the reason of a failure, and each attempt to deliver an event. Free.',
    parameters: [...at, since('7 days ago'), ...paging(500, 100)],
    answer: pageOf('activity', ref('Activity')),
  },
  {
    ...common,
    method: 'delete',
    path: '/v1/{source}/watches/{id}',
    operationId: 'deleteWatch',
    summary: 'Delete a watch. Its events stay readable',
    description:
      'Checks stop immediately. A watch of a keyword can be deleted only with its keyword or search. Free.',
    parameters: at,
    status: 204,
  },
];
