import { Ajv } from 'ajv';
import { answer } from '../context.js';
import { TEAMS_MESSAGE } from './adaptive-card.js';
import { objectsIn, textIn, type ChatService, type CheckedMessage } from './chat-service.js';

const MAX_BYTES = 28 * 1024;
const isMessage = new Ajv({ strict: true, allowUnionTypes: true }).compile(TEAMS_MESSAGE);

/** Webhooks of Teams' workflows ("When a Teams webhook request is received"): a message with Adaptive Cards. */
export const teams: ChatService = {
  service: 'teams',
  path: '/workflows/:id/triggers/manual/paths/invoke',
  toOf: ({ id }) => `/workflows/${id}`,
  read,
  accept: (reply) => reply.code(202).send(),
  refuse: (reply, status, message) =>
    answer(reply, status, {
      error: { code: status === 404 ? 'WorkflowNotFound' : 'TriggerInputSchemaMismatch', message },
    }),
};

function read(body: Record<string, unknown>): CheckedMessage {
  const cards = objectsIn(body['attachments']).map(
    ({ content }) => (content ?? {}) as Record<string, unknown>,
  );
  const isWrong = !isMessage(body) || Buffer.byteLength(JSON.stringify(body)) > MAX_BYTES;
  // Teams notifies a person only if an entity of the card names the person.
  const pings = cards.flatMap(({ msteams }) => objectsIn((msteams as { entities?: unknown })?.entities));
  return {
    fault: isWrong ? 'The input body does not match the schema' : undefined,
    pings: pings.map((one) => JSON.stringify(one)),
    text: cards.flatMap((card) => objectsIn(card['body']).map(textOf)).join('\n'),
  };
}

function textOf({ text, inlines }: Record<string, unknown>): string {
  return (
    textIn(text) +
    objectsIn(inlines)
      .map((run) => textIn(run['text']))
      .join('')
  );
}
