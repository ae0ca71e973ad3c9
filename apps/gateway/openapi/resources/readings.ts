import { INTENTS, SENTIMENTS } from '#contracts';
import type { Route } from '../operation.js';
import { inQuery, repeated } from '../parameters.js';
import {
  described,
  FREE_FORM,
  ID,
  INSTANT_SENT,
  INTEGER,
  listOf,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';

const analysisKeys = {
  sentiment: described(
    'Stance toward the subject of the keyword; with the `subjectRole` `topic`, the mood of the text',
    nullable(oneOf(SENTIMENTS)),
  ),
  sentimentScore: nullable({ type: 'number', minimum: -1, maximum: 1 }),
  intent: nullable(oneOf(INTENTS)),
  relevance: described('0 to 100', nullable(NUMBER)),
  reason: described('The phrase or the signal that had the largest effect', nullable(TEXT)),
};
export const readingSchemas: Readonly<Record<string, Schema>> = {
  Analysis: object({}, analysisKeys),
  EventAnalysis: described('A value that was not read is null', {
    ...object({
      ...analysisKeys,
      lang: nullable(TEXT),
      reader: described('`local` or `llm`', TEXT),
      model: TEXT,
      version: TEXT,
    }),
  }),
  AgentAnswer: object({
    status: oneOf(['completed', 'timeout', 'failed']),
    output: described('The fields of the step’s schema; null without an answer', nullable(FREE_FORM)),
    model: nullable(TEXT),
    version: nullable(TEXT),
  }),
  Reading: object({
    kind: described('`language`, `relevance`, `analysis`, `co_brands`, `bucket`, `agent_step`', TEXT),
    reader: described('`local`, or `llm` for the language model of the installation', TEXT),
    model: TEXT,
    version: TEXT,
    promptVersion: nullable(TEXT),
    durationMs: described(
      '`local`: the time for the items that were read together, divided by their number. `llm`: the time of the whole question to the model',
      INTEGER,
    ),
    costCredits: INTEGER,
    detail: described('The reason, as text for people', nullable(TEXT)),
    result: {
      description:
        'The value that was read, before corrections. Null for `co_brands`: see `coBrands` of the mention',
    },
  }),
  ReadingAccuracy: object({
    reader: TEXT,
    model: TEXT,
    version: TEXT,
    field: oneOf(['sentiment', 'intent', 'relevance']),
    n: described(
      'Number of mentions with a correction, including corrections that equal the reading',
      INTEGER,
    ),
    agreement: described(
      'Share of mentions for which person and reader chose the same value; all shares here are from 0 to 1',
      NUMBER,
    ),
    macroRecall: described('Mean recall of the values that a person has set', NUMBER),
    macroF1: NUMBER,
    byValue: listOf(
      object({ value: TEXT, n: INTEGER, precision: nullable(NUMBER), recall: nullable(NUMBER) }),
    ),
    confusion: listOf(object({ corrected: TEXT, read: TEXT, count: INTEGER })),
  }),
};

export const readingRoutes: readonly Route[] = [
  {
    tag: 'Mentions',
    method: 'get',
    path: '/v1/readings/accuracy',
    operationId: 'readingAccuracy',
    summary: 'Compare the readings with the corrections of the account',
    description:
      'One row for each version of each reader and each `field`. A correction that equals the reading counts as agreement. Relevance is compared as relevant (50 or more) and irrelevant. Free.',
    parameters: [
      repeated('keyword', 'Only this keyword.', ID),
      inQuery('since', 'Only mentions that were found at this time or later', INSTANT_SENT),
    ],
    answer: object({ data: listOf(ref('ReadingAccuracy')) }),
  },
];
