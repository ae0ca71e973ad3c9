import { answer } from '../context.js';
import { textIn, type ChatService, type CheckedMessage } from './chat-service.js';

const TAGS = new Set(['b', 'strong', 'i', 'em', 'u', 's', 'code', 'pre', 'a', 'blockquote']);
const ENTITIES = /&(?:lt|gt|amp|quot|#\d+|#x[0-9a-f]+);/gi;

/** The Bot API (core.telegram.org/bots/api): sendMessage with HTML. A chat whose id contains 404 does not exist. */
export const telegram: ChatService = {
  service: 'telegram',
  path: '/bot:token/sendMessage',
  toOf: (_, { chat_id: chatId }) => String(chatId),
  read,
  accept: (reply, body) =>
    answer(reply, 200, {
      ok: true,
      result: { message_id: 1, date: 0, chat: { id: body['chat_id'], type: 'supergroup' }, text: '' },
    }),
  refuse(reply, status, message) {
    const retryAfter = Number(reply.getHeader('retry-after') ?? 1);
    return answer(reply, status, {
      ok: false,
      error_code: status,
      description:
        status === 429
          ? `Too Many Requests: retry after ${retryAfter}`
          : `${NAMES[status] ?? 'Error'}: ${message}`,
      ...(status === 429 && { parameters: { retry_after: retryAfter } }),
    });
  },
};

const NAMES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
};

function read(body: Record<string, unknown>): CheckedMessage {
  const markup = textIn(body['text']);
  if (/404/.test(String(body['chat_id'] ?? ''))) return { fault: 'chat not found', pings: [], text: '' };
  const text = markup.replace(/<[^>]*>/g, '').replace(ENTITIES, ' ');
  const fault = body['parse_mode'] === 'HTML' ? markupFault(markup) : undefined;
  const pings = [...text.matchAll(/(?<![\w@])@[a-z]\w{3,}/gi)].map(([all]) => all);
  if (fault) return { fault, pings, text };
  if (text.trim() === '') return { fault: 'message text is empty', pings, text };
  return { fault: text.length > 4096 ? 'message is too long' : undefined, pings, text };
}

/**
 * Returns why Telegram would refuse the HTML: an unknown tag, a wrong link, tags that are not closed in order, or a
 * bracket that is not escaped. Returns undefined if the HTML is valid.
 */
function markupFault(markup: string): string | undefined {
  const open: string[] = [];
  for (const [, slash, name = '', rest = ''] of markup.matchAll(/<(\/?)([^\s>/]*)([^>]*)>/g)) {
    if (!TAGS.has(name)) return `can't parse entities: unsupported start tag "${name}"`;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return `can't parse entities: unmatched end tag "${name}"`;
    if (name === 'a' && slash === '' && !/^ href="[^"<>]*"$/.test(rest))
      return "can't parse entities: bad link";
  }
  if (open.length > 0) return `can't parse entities: can't find end tag of "${open[0]}"`;
  return /<|>/.test(markup.replace(/<[^>]*>/g, '')) ? "can't parse entities: unescaped bracket" : undefined;
}
