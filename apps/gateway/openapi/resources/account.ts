import { PLANS, SOURCE_IDS } from '#contracts';
import type { Route } from '../operation.js';
import { inQuery, paging, repeated, since, UNTIL } from '../parameters.js';
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
  described,
  type Schema,
  SOURCE,
} from '../schema.js';

const SIGNATURE_VERSIONS = ['v1', 'legacy'];
const KINDS = ['charge', 'grant', 'pack_expiry', 'renewal', 'allowance_change'];

export const accountSchemas: Readonly<Record<string, Schema>> = {
  Source: oneOf(SOURCE_IDS),
  SourceState: object({
    id: SOURCE,
    configured: BOOLEAN,
    enabled: BOOLEAN,
    healthy: BOOLEAN,
    reason: described('Why the source is not healthy, and what to do', nullable(TEXT)),
    missingSettings: listOf(TEXT),
    lastSuccessAt: nullable(INSTANT),
    intervalFloorSeconds: described('Shortest interval that the account can set for this source', INTEGER),
    creditsPerCheck: described(
      'Credits for one check; for ai_answers, credits for one engine in a check',
      INTEGER,
    ),
    firehose: described(
      'Earshot can read everything new in the source with one request for all searches',
      BOOLEAN,
    ),
  }),
  Account: object({
    id: ID,
    email: TEXT,
    plan: oneOf(PLANS),
    name: nullable(TEXT),
    timezone: described('IANA name of the time zone', TEXT),
    signatureVersion: described('Format of `X-Signature`', oneOf(SIGNATURE_VERSIONS)),
    createdAt: INSTANT,
  }),
  Credits: object({
    plan: oneOf(PLANS),
    periodStart: INSTANT,
    periodEnd: INSTANT,
    monthlyAllowance: INTEGER,
    allowanceRemaining: INTEGER,
    packs: listOf(object({ id: ID, granted: INTEGER, remaining: INTEGER, expiresAt: nullable(INSTANT) })),
    creditsRemaining: INTEGER,
    creditsReserved: described(
      'The part of `creditsRemaining` that is reserved for work that has begun: checks, readings, lookups, Explores, semantic questions, analyses',
      INTEGER,
    ),
    usedThisPeriod: INTEGER,
    bySource: described(
      'The part of `usedThisPeriod` that has a source. Semantic questions and analyses have none',
      mapOf(INTEGER),
    ),
    byOperation: mapOf(INTEGER),
  }),
  Movement: object({
    id: TEXT,
    at: INSTANT,
    kind: oneOf(KINDS),
    amount: described(
      'Negative for credits that were spent, have expired, or were lost with a smaller allowance',
      INTEGER,
    ),
    balanceAfter: INTEGER,
    operation: nullable(TEXT),
    source: nullable(TEXT),
    keywordId: nullable(ID),
    watchId: nullable(ID),
    checkId: nullable(ID),
    rate: described('Price of one unit in credits', nullable(NUMBER)),
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
    summary: 'List the sources, whether each is configured and healthy, and the price of a check',
    description:
      'A source that lacks required settings is not configured: `missingSettings` lists them. Keywords cannot use the source until it is configured. Free.',
    answer: object({ data: listOf(ref('SourceState')) }),
  },
  {
    method: 'get',
    tag: 'Account',
    path: '/v1/account',
    operationId: 'getAccount',
    summary: 'Get the account and its settings',
    description: 'The account of the key or of the session. Free.',
    answer: ref('Account'),
  },
  {
    method: 'patch',
    tag: 'Account',
    path: '/v1/account',
    operationId: 'changeAccount',
    summary: 'Change the account’s settings. A key that is absent in the body does not change',
    description:
      '`timezone` sets the times of digests and weekly reports. `signatureVersion: legacy` sends `X-Signature` without a time, for old receivers. Free.',
    body: ref('AccountChange'),
    example: { timezone: 'Europe/Berlin' },
    answer: ref('Account'),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits',
    operationId: 'getCredits',
    summary: 'Get the credits of the account, and how they were used in this period',
    description:
      'The allowance is used before the packs. A check reserves its credits before it runs, and is charged afterwards. Free.',
    answer: ref('Credits'),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits/usage',
    operationId: 'creditUsage',
    summary: 'Show the charged credits of each UTC day',
    description: 'Returns only days with charges, oldest first. The window is at most 92 days long. Free.',
    parameters: [
      inQuery('group', 'The property by which each day is split', oneOf(['source', 'operation', 'keyword'])),
      since('30 days before `until`'),
      UNTIL,
    ],
    answer: object({
      data: listOf(
        object({
          at: described('Beginning of the day in UTC', INSTANT),
          group: described('Null without `group`, and for charges without this property', nullable(TEXT)),
          credits: INTEGER,
        }),
      ),
      since: INSTANT,
      until: INSTANT,
    }),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits/audit',
    operationId: 'auditCredits',
    summary: 'Check that the ledger, the balance and the usage agree',
    description:
      'Compares the sums of the tables at one moment. The command `credits audit` of the installation also computes every movement again from the stored messages. Free.',
    answer: object({
      consistent: BOOLEAN,
      faults: described('Descriptions of the sums that do not agree', listOf(TEXT)),
      movements: described('Number of movements in the ledger', INTEGER),
      balance: INTEGER,
      sumOfMovements: INTEGER,
      chargedThisPeriod: INTEGER,
      checkedAt: INSTANT,
    }),
  },
  {
    method: 'get',
    tag: 'Credits',
    path: '/v1/credits/ledger',
    operationId: 'listMovements',
    summary: 'List all movements of credits, newest first',
    description:
      'Lists each charge with its operation, source, keyword and check, and each grant, renewal, expiry and change of the allowance. The balance never falls below zero. Free.',
    parameters: [
      repeated('kind', 'Only movements of this kind.', oneOf(KINDS)),
      repeated('source', 'Only movements for this source.', oneOf(SOURCE_IDS)),
      repeated('keyword', 'Only movements for this keyword.', ID),
      since('when the account was created'),
      UNTIL,
      ...paging(),
    ],
    answer: pageOf('data', ref('Movement')),
  },
];
