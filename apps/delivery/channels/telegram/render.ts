import type { ApiMethods } from '@grammyjs/types';
import { escapeHtml, escapeAttribute } from '../html.js';
import { cut, fitted, moreLine, withoutPings, type Entry, type Message } from '../message.js';

/** The body of `sendMessage`. */
export type TelegramMessage = Pick<
  Parameters<ApiMethods<never>['sendMessage']>[0],
  'chat_id' | 'text' | 'parse_mode' | 'link_preview_options'
>;

/** Maximum length of a message. Telegram counts the characters without the markup. */
const MAX_TEXT_LENGTH = 4096;
const MAX_TITLE_LENGTH = 300;

/**
 * Returns the message for the Bot API, in Telegram's HTML. An invisible character breaks each `@name`, which would
 * otherwise notify members of the chat.
 */
export function renderTelegram(message: Message, chatId: string): TelegramMessage {
  return fitted(
    message,
    (one) => ({
      chat_id: chatId,
      text: textOf(one),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }),
    ({ text }) => withoutMarkup(text).length <= MAX_TEXT_LENGTH,
  );
}

/** Returns the text without markup, as Telegram shows it. */
export function withoutMarkup(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');
}

function textOf({ title, sections, more, link, footer }: Message): string {
  const parts = sections.flatMap(({ heading, lines, entries }) => [
    ...(heading ? [`<b>${safe(heading)}</b>`] : []),
    ...(lines.length > 0 ? [lines.map(safe).join('\n')] : []),
    ...entries.map(entryText),
  ]);
  return [
    `<b>${safe(cut(title, MAX_TITLE_LENGTH))}</b>`,
    ...parts,
    moreLine(more),
    link ? `<a href="${escapeAttribute(link.url)}">${safe(link.label)}</a>` : '',
    `<i>${safe(footer)}</i>`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

function entryText({ title, url, text, meta }: Entry): string {
  const head = url ? `<a href="${escapeAttribute(url)}">${safe(title) || '…'}</a>` : `<b>${safe(title)}</b>`;
  return [head, meta ? `<i>${safe(meta)}</i>` : '', safe(text)].filter(Boolean).join('\n');
}

function safe(text: string): string {
  return escapeHtml(withoutPings(text));
}
