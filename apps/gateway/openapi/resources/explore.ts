import type { Route } from '../operation.js';
import { inPath, paging } from '../parameters.js';
import {
  described,
  ID,
  INSTANT,
  INTEGER,
  listOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  pageOf,
  ref,
  SOURCE,
  TEXT,
  type Schema,
} from '../schema.js';

const status = oneOf(['queued', 'running', 'done', 'failed']);

export const exploreSchemas: Readonly<Record<string, Schema>> = {
  Explore: object({
    id: ID,
    question: TEXT,
    market: TEXT,
    limit: INTEGER,
    status: described('`failed` means that no source has answered', status),
    sources: listOf(
      object({
        source: SOURCE,
        status,
        items: INTEGER,
        error: described('Why the source failed; a failed source costs nothing', nullable(TEXT)),
        warning: described('Parts of the response that could not be read', nullable(TEXT)),
      }),
    ),
    creditsQuoted: NUMBER,
    creditsUsed: NUMBER,
    createdAt: INSTANT,
  }),
  ExploreEstimate: {
    oneOf: [
      object({
        valid: { const: true },
        estimate: object({
          credits: described('Cost if all sources answer', NUMBER),
          bySource: listOf(object({ source: SOURCE, credits: NUMBER })),
          creditsRemaining: NUMBER,
        }),
        estimateToken: TEXT,
        estimateTokenExpiresAt: INSTANT,
      }),
      object({
        valid: { const: false },
        refusal: object(
          { status: INTEGER, code: nullable(TEXT), message: TEXT },
          { details: listOf(ref('Fault')) },
        ),
      }),
    ],
  },
};

const TOKEN = { $ref: '#/components/parameters/EstimateToken' };
const common = { tag: 'Explore' } as const;
const body = {
  body: ref('ExploreBody'),
  example: { question: 'open-source brand monitoring', sources: ['hackernews', 'stackoverflow'] },
} as const;

export const exploreRoutes: readonly Route[] = [
  {
    ...common,
    ...body,
    method: 'post',
    path: '/v1/explore/estimate',
    operationId: 'estimateExplore',
    summary: 'Estimate what a question costs',
    description:
      'Does not ask the sources. For a body that the Explore would refuse, the response is 200 with `valid: false` and the refusal. Free.',
    answer: ref('ExploreEstimate'),
  },
  {
    ...common,
    ...body,
    method: 'post',
    path: '/v1/explore',
    operationId: 'startExplore',
    summary: 'Ask sources a question once',
    description:
      'Scheduled checks come first; after a minute, a source is asked even if checks wait. Each source that answers costs 2 credits; a source that fails costs nothing. A source that has not answered after 30 minutes fails. At most 5 Explores of an account run at the same time; a further Explore gets 409.',
    parameters: [TOKEN],
    status: 202,
    answer: object({ id: ID, status }),
    refusals: [402, 409],
  },
  {
    ...common,
    method: 'get',
    path: '/v1/explore/{id}',
    operationId: 'getExplore',
    summary: 'Get an Explore, with the outcome of each source',
    description:
      'When the last source has answered or failed, `status` becomes `done`, or `failed` if no source has answered. Free.',
    parameters: [inPath('id', 'Id of the Explore')],
    answer: ref('Explore'),
  },
  {
    ...common,
    method: 'get',
    path: '/v1/explore/{id}/items',
    operationId: 'itemsOfExplore',
    summary: 'List the items that an Explore found, newest first',
    description:
      'The items are mentions without a keyword and without readings. They are kept for at least 90 days, and are also in `GET /v1/mentions` if it does not filter by sentiment, intent or author. `matchedTerms` contains the terms of the Explore that are whole words in the item; it is empty if the Explore has a question but no terms.',
    parameters: [inPath('id', 'Id of the Explore'), ...paging()],
    answer: pageOf('data', ref('Mention')),
  },
];
