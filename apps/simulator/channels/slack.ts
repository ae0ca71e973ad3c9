import { objectsIn, textIn, type ChatService, type CheckedMessage } from './chat-service.js';

const ELEMENTS = new Set(['text', 'link', 'emoji', 'user', 'usergroup', 'channel', 'broadcast', 'date']);

/** Slack's incoming webhooks (docs.slack.dev: sending messages, Block Kit reference). */
export const slack: ChatService = {
  service: 'slack',
  path: '/services/:team/:app/:secret',
  toOf: ({ team, app, secret }) => `/services/${team}/${app}/${secret}`,
  read,
  accept: (reply) => reply.code(200).type('text/html').send('ok'),
  refuse: (reply, status, message) =>
    reply
      .code(status)
      .type('text/html')
      .send(status === 404 ? 'no_service' : message),
};

function read(body: Record<string, unknown>): CheckedMessage {
  const text = textIn(body['text']);
  const blocks = objectsIn(body['blocks']);
  if (text === '' && blocks.length === 0) return { fault: 'no_text', pings: [], text: '' };
  if (text.length > 40_000) return { fault: 'msg_too_long', pings: [], text: '' };
  const texts: string[] = [];
  const pings = pingsIn(text);
  const fault = blocks.length > 50 || blocks.some((block) => blockFault(block, texts, pings));
  return { fault: fault ? 'invalid_blocks' : undefined, pings, text: [text, ...texts].join('\n') };
}

/** Returns true if the block is not valid. Adds its texts to `texts`, and elements that notify people to `pings`. */
function blockFault(block: Record<string, unknown>, texts: string[], pings: string[]): boolean {
  switch (block['type']) {
    case 'header':
      return plainFault(block['text'], 150, texts);
    case 'context': {
      const elements = objectsIn(block['elements']);
      return (
        elements.length < 1 || elements.length > 10 || elements.some((one) => plainFault(one, 3000, texts))
      );
    }
    case 'rich_text': {
      const elements = objectsIn(block['elements']);
      return elements.length === 0 || elements.some((one) => richFault(one, texts, pings));
    }
    case 'divider':
      return false;
    default:
      return true;
  }
}

function plainFault(value: unknown, max: number, texts: string[]): boolean {
  const object = (value ?? {}) as Record<string, unknown>;
  const text = textIn(object['text']);
  texts.push(text);
  return object['type'] !== 'plain_text' || text.length < 1 || text.length > max;
}

function richFault(section: Record<string, unknown>, texts: string[], pings: string[]): boolean {
  const elements = objectsIn(section['elements']);
  for (const element of elements) {
    const type = textIn(element['type']);
    if (['user', 'usergroup', 'broadcast'].includes(type)) pings.push(type);
    texts.push(textIn(element['text']));
  }
  return (
    section['type'] !== 'rich_text_section' ||
    elements.some(
      ({ type, text, url }) =>
        !ELEMENTS.has(textIn(type)) ||
        (type === 'text' && textIn(text) === '') ||
        (type === 'link' && !/^https?:\/\//.test(textIn(url))),
    )
  );
}

/** Returns the parts of a text that notify people, for example `<!channel>` and `<@U1>`. */
function pingsIn(markup: string): string[] {
  return [...markup.matchAll(/<(!(?:channel|here|everyone)|@\w+|!subteam\^\w+)[^>]*>/g)].map(([all]) => all);
}
