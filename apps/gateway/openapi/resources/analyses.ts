import { ANALYSES } from '../../api/analyses/analysis-body.dto.js';
import type { Route } from '../operation.js';
import {
  described,
  FREE_FORM,
  ID,
  INTEGER,
  listOf,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';

export const analysisSchemas: Readonly<Record<string, Schema>> = {
  AnalysisResult: object(
    {
      id: ID,
      operation: oneOf(ANALYSES),
      meta: object({ credits_used: INTEGER }),
      errors: described(
        'Mentions without a result, which are not charged: `NO_TEXT`, `INVALID_ANSWER`, `TIMEOUT`, `UNAVAILABLE`, `TOO_LARGE`',
        listOf(object({ mentionId: ID, code: TEXT })),
      ),
    },
    {
      groups: described(
        'The groups of `group`, the largest first. Mentions that are not similar to other mentions are in `other`',
        listOf(object({ key: TEXT, label: TEXT, mentionIds: listOf(ID) })),
      ),
      labels: described(
        'The result of `classify`; the confidence is from 0 to 1',
        listOf(object({ mentionId: ID, class: TEXT, confidence: NUMBER })),
      ),
      outputs: described(
        'The result of `agent`: each output has the fields of the schema',
        listOf(object({ mentionId: ID, status: oneOf(['completed']), output: FREE_FORM })),
      ),
      summary: described(
        'The result of `summarise`: its sentences, each with the mentions that support it',
        object({
          text: TEXT,
          sentences: listOf(object({ text: TEXT, mentionIds: listOf(ID) })),
          reader: oneOf(['local', 'llm']),
        }),
      ),
    },
  ),
};

export const analysisRoutes: readonly Route[] = [
  {
    tag: 'Mentions',
    method: 'post',
    path: '/v1/analyses',
    operationId: 'analyseMentions',
    summary: 'Group, classify or summarise mentions, or carry out an instruction on each mention',
    description:
      'Costs 1 credit for each mention with a result; a mention in `errors` costs nothing. Returns 402 before any work if the credits do not cover all mentions. One mention of another account makes the whole call return 404. `group`, `classify` and `summarise` need no language model: without it they compare meanings, and a summary consists of sentences of the mentions. With `LLM_URL` they ask the language model, and use the local result if the model does not answer. The mentions that support a sentence of a summary are always found without the language model. `agent` needs the language model, and returns 400 without it.',
    body: ref('AnalysisBody'),
    example: {
      operation: 'classify',
      mention_ids: ['0190a0b0-0000-7000-8000-000000000001'],
      classes: ['delivery problems', 'praise for the product', 'questions about the price'],
    },
    answer: ref('AnalysisResult'),
    refusals: [404],
  },
];
