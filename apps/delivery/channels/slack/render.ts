import type { IncomingWebhookSendArguments } from './payload.js';
import { escapeHtml } from '../html.js';
import { cut, fitted, moreLine, withoutPings, type Entry, type Message, type Section } from '../message.js';

const MAX_HEADER_LENGTH = 150;
const MAX_NOTIFICATION_LENGTH = 300;
/**
 * Slack does not publish a limit for the texts of all blocks together. It refuses messages of about 13,000 characters
 * or more.
 */
const MAX_CHARACTERS = 12_000;
const MAX_BLOCKS = 50;

type Block = NonNullable<IncomingWebhookSendArguments['blocks']>[number];
type RichSection = Extract<
  Extract<Block, { type: 'rich_text' }>['elements'][number],
  { type: 'rich_text_section' }
>;
type Inline = RichSection['elements'][number];

/**
 * Returns the message for an incoming webhook of Slack. Slack parses no markup in rich text. Slack parses its control
 * characters (`&`, `<`, `>`) in `text` (which notifications show) and in plain text (header and footer), so these texts
 * are escaped.
 */
export function renderSlack(message: Message): IncomingWebhookSendArguments {
  return fitted(
    message,
    (one) => ({
      text: parsed(one.title, MAX_NOTIFICATION_LENGTH),
      blocks: blocksOf(one),
      unfurl_links: false,
      unfurl_media: false,
    }),
    ({ blocks = [] }) => blocks.length <= MAX_BLOCKS && JSON.stringify(blocks).length <= MAX_CHARACTERS,
  );
}

function blocksOf({ title, sections, more, link, footer }: Message): Block[] {
  const last = moreLine(more);
  return [
    { type: 'header', text: plainText(title) },
    ...sections.map(sectionBlock),
    ...(last ? [richText([[{ type: 'text', text: last }]])] : []),
    ...(link ? [richText([[{ type: 'link', url: link.url, text: link.label }]])] : []),
    { type: 'context', elements: [plainText(footer)] },
  ];
}

function sectionBlock({ heading, lines, entries }: Section): Block {
  return richText([
    ...(heading ? [[bold(`${safe(heading)}\n`)]] : []),
    ...lines.map((line): Inline[] => [{ type: 'text', text: `${safe(line) || ' '}\n` }]),
    ...entries.map(entryInlines),
  ]);
}

function entryInlines({ title, url, text, meta }: Entry): Inline[] {
  const shown = safe(title) || ' ';
  return [
    url ? { type: 'link', url, text: shown, style: { bold: true } } : bold(shown),
    ...(meta ? [{ type: 'text' as const, text: `\n${safe(meta)}`, style: { italic: true } }] : []),
    ...(text ? [{ type: 'text' as const, text: `\n${safe(text)}` }] : []),
    { type: 'text', text: '\n' },
  ];
}

function richText(paragraphs: Inline[][]): Block {
  return {
    type: 'rich_text',
    elements: (paragraphs.length > 0 ? paragraphs : [[{ type: 'text', text: ' ' } as const]]).map(
      (elements) => ({
        type: 'rich_text_section',
        elements,
      }),
    ),
  };
}

function bold(text: string): Inline {
  return { type: 'text', text, style: { bold: true } };
}

function plainText(text: string): { type: 'plain_text'; text: string; emoji: false } {
  return { type: 'plain_text', text: parsed(text, MAX_HEADER_LENGTH) || ' ', emoji: false };
}

function safe(text: string): string {
  return withoutPings(text);
}

/**
 * Returns a text for a field in which Slack parses its control characters. These are escaped. `max` limits the length
 * of the text, including the escapes.
 */
function parsed(text: string, max: number): string {
  for (let length = max; ; length = Math.floor(length * 0.8)) {
    const escaped = escapeHtml(safe(cut(text, length)));
    if (escaped.length <= max) return escaped;
  }
}
