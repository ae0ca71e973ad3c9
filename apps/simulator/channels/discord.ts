import { answer } from '../context.js';
import { objectsIn, textIn, type ChatService, type CheckedMessage } from './chat-service.js';

/** Discord's webhooks (discord.com/developers/docs: Execute Webhook, embed limits, allowed mentions). */
export const discord: ChatService = {
  service: 'discord',
  path: '/api/webhooks/:id/:token',
  toOf: ({ id, token }) => `/api/webhooks/${id}/${token}`,
  read,
  accept: (reply, body) =>
    answer(reply, 200, { id: '1', type: 0, content: '', embeds: body['embeds'] ?? [] }),
  refuse(reply, status, message) {
    const retryAfter = Number(reply.getHeader('retry-after') ?? 1);
    if (status === 429)
      return answer(reply, 429, {
        message: 'You are being rate limited.',
        retry_after: retryAfter,
        global: false,
      });
    if (status === 404) return answer(reply, 404, { message: 'Unknown Webhook', code: 10015 });
    if (status === 401) return answer(reply, 401, { message: 'Invalid Webhook Token', code: 50027 });
    return answer(reply, status, { message, code: status === 400 ? 50035 : 0 });
  },
};

const LIMITS: readonly [key: string, max: number][] = [
  ['title', 256],
  ['description', 4096],
];

function read(body: Record<string, unknown>): CheckedMessage {
  const content = textIn(body['content']);
  const embeds = objectsIn(body['embeds']);
  const texts = embeds.map(textsOf);
  const isLong =
    content.length > 2000 ||
    embeds.length > 10 ||
    embeds.some((embed) => LIMITS.some(([key, max]) => textIn(embed[key]).length > max)) ||
    embeds.some((embed) => nested(embed, 'author', 'name').length > 256) ||
    embeds.some((embed) => nested(embed, 'footer', 'text').length > 2048) ||
    embeds.some((embed) => objectsIn(embed['fields']).length > 25) ||
    texts.join('').length > 6000;
  const isEmpty = content === '' && texts.every((text) => text === '');
  // Mentions in embeds notify nobody. Mentions in the content notify people, unless `allowed_mentions.parse` is an
  // empty list.
  const allowed = body['allowed_mentions'] as { parse?: unknown } | undefined;
  const isQuiet = Array.isArray(allowed?.parse) && allowed.parse.length === 0;
  const pings = isQuiet ? [] : [...content.matchAll(/@(everyone|here)|<@[!&]?\d+>/g)].map(([all]) => all);
  const fault = isEmpty ? 'Cannot send an empty message' : isLong ? 'Invalid Form Body' : undefined;
  return { fault, pings, text: [content, ...texts].filter(Boolean).join('\n') };
}

function textsOf(embed: Record<string, unknown>): string {
  return [
    nested(embed, 'author', 'name'),
    textIn(embed['title']),
    textIn(embed['description']),
    nested(embed, 'footer', 'text'),
    ...objectsIn(embed['fields']).map(({ name, value }) => textIn(name) + textIn(value)),
  ].join('');
}

function nested(embed: Record<string, unknown>, key: string, inner: string): string {
  return textIn(((embed[key] ?? {}) as Record<string, unknown>)[inner]);
}
