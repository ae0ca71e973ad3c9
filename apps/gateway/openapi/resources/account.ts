import { PLANS, SOURCE_IDS } from '#contracts';
import type { Route } from '../operation.js';
import { paging, repeated, since, UNTIL } from '../parameters.js';
import {
  BOOLEAN,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  mapOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  pageOf,
  ref,
  TEXT,
  told,
  type Schema,
} from '../schema.js';
import { SOURCE } from './criteria.js';

const KINDS = ['charge', 'grant', 'pack_expiry', 'renewal', 'allowance_change'];

export const accountSchemas: Readonly<Record<string, Schema>> = {
  Source: oneOf(SOURCE_IDS),
  SourceState: object({
    id: SOURCE,
    configured: BOOLEAN,
    enabled: BOOLEAN,
    healthy: BOOLEAN,
    reason: told('Why it is not healthy, and what to do', nullable(TEXT)),
    missingSettings: listOf(TEXT),
    lastSuccessAt: nullable(INSTANT),
    intervalFloorSeconds: told('Of the account’s plan', INTEGER),
    creditsPerCheck: told('Of ai_answers: for each engine', INTEGER),
    firehose: told('One read serves every search', BOOLEAN),
  }),
  Credits: object({
    plan: oneOf(PLANS),
    periodStart: INSTANT,
    periodEnd: INSTANT,
    monthlyAllowance: INTEGER,
    allowanceRemaining: INTEGER,
    packs: listOf(object({ id: ID, granted: INTEGER, remaining: INTEGER, expiresAt: nullable(INSTANT) })),
    creditsRemaining: INTEGER,
    creditsHeld: told('Of `creditsRemaining`: reserved for checks and lookups under way', INTEGER),
    usedThisPeriod: INTEGER,
    bySource: mapOf(INTEGER),
    byOperation: mapOf(INTEGER),
  }),
  Movement: object({
    id: TEXT,
    at: INSTANT,
    kind: oneOf(KINDS),
    amount: INTEGER,
    balanceAfter: INTEGER,
    operation: nullable(TEXT),
    source: nullable(TEXT),
    keywordId: nullable(ID),
    watchId: nullable(ID),
    checkId: nullable(ID),
    rate: told('Credits for one unit', nullable(NUMBER)),
    units: nullable(NUMBER),
    priceBookVersion: nullable(TEXT),
    reference: TEXT,
  }),
};

export const accountRoutes: readonly Route[] = [
  {
    method: 'get',
    tag: 'Sources',
    path: '/v1/sources',
    operationId: 'listSources',
    summary: 'What this installation can watch, how its upstreams are, and what a check costs',
    answer: object({ data: listOf(ref('SourceState')) }),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits',
    operationId: 'getCredits',
    summary: 'What the account has of credits, and where this period’s went',
    answer: ref('Credits'),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits/ledger',
    operationId: 'listMovements',
    summary: 'Every movement of credits, newest first',
    parameters: [
      repeated('kind', 'Of which kind.', oneOf(KINDS)),
      repeated('source', 'For which source.', oneOf(SOURCE_IDS)),
      repeated('keyword', 'For which keyword.', ID),
      since('the account’s beginning'),
      UNTIL,
      ...paging(),
    ],
    answer: pageOf('data', ref('Movement')),
  },
];
