import { answer } from '../context.js';
import { objectsIn, textIn, type ChatService, type Reading } from './chat-service.js';

const MOST_BYTES = 28 * 1024;
const CARD = 'application/vnd.microsoft.card.adaptive';

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

function read(body: Record<string, unknown>): Reading {
  const attachments = objectsIn(body['attachments']);
  const cards = attachments.map(({ content }) => (content ?? {}) as Record<string, unknown>);
  const texts: string[] = [];
  const isWrong =
    body['type'] !== 'message' ||
    attachments.length === 0 ||
    attachments.some(({ contentType }) => contentType !== CARD) ||
    cards.some((card) => cardFault(card, texts)) ||
    Buffer.byteLength(JSON.stringify(body)) > MOST_BYTES;
  // A mention needs an entity of the card.
  const pings = cards.flatMap(({ msteams }) => objectsIn((msteams as { entities?: unknown })?.entities));
  return {
    fault: isWrong ? 'The input body does not match the schema' : undefined,
    pings: pings.map((one) => JSON.stringify(one)),
    text: texts.join('\n'),
  };
}

function cardFault({ type, version, body, actions }: Record<string, unknown>, texts: string[]): boolean {
  const elements = objectsIn(body);
  return (
    type !== 'AdaptiveCard' ||
    !/^1\.[0-5]$/.test(textIn(version)) ||
    elements.length === 0 ||
    elements.some((element) => elementFault(element, texts)) ||
    objectsIn(actions).some((action) => actionFault(action))
  );
}

function elementFault({ type, inlines, text }: Record<string, unknown>, texts: string[]): boolean {
  if (type === 'TextBlock') {
    texts.push(textIn(text));
    return textIn(text) === '';
  }
  const runs = objectsIn(inlines);
  texts.push(runs.map((run) => textIn(run['text'])).join(''));
  return (
    type !== 'RichTextBlock' ||
    runs.length === 0 ||
    runs.some(
      (run) =>
        run['type'] !== 'TextRun' ||
        textIn(run['text']) === '' ||
        (run['selectAction'] !== undefined && actionFault(run['selectAction'] as Record<string, unknown>)),
    )
  );
}

function actionFault({ type, url }: Record<string, unknown>): boolean {
  return type !== 'Action.OpenUrl' || !/^https?:\/\//.test(textIn(url));
}
