import type { RESTPostAPIWebhookWithTokenJSONBody } from 'discord-api-types/v10';
import { cut, fitted, moreLine, withoutPings, type Entry, type Message } from '../message.js';

const MAX_DESCRIPTION_LENGTH = 4096;
const MAX_AUTHOR_LENGTH = 256;
const MAX_FOOTER_LENGTH = 2048;
/** Maximum length of all texts of all embeds together. */
const MAX_CHARACTERS = 6000;

/**
 * Returns the message for a webhook of Discord: one embed. A text such as `@everyone` notifies nobody:
 * `allowed_mentions` is empty, and Discord sends no notifications for texts in embeds. Markdown in the texts is
 * escaped.
 */
export function renderDiscord(message: Message): RESTPostAPIWebhookWithTokenJSONBody {
  return fitted(
    message,
    (one) => ({
      embeds: [
        {
          author: { name: cut(withoutPings(one.title), MAX_AUTHOR_LENGTH) || 'Earshot' },
          description: descriptionOf(one),
          footer: { text: cut(withoutPings(one.footer), MAX_FOOTER_LENGTH / 4) },
        },
      ],
      allowed_mentions: { parse: [] },
    }),
    ({ embeds = [] }) =>
      embeds.every(({ description = '' }) => description.length <= MAX_DESCRIPTION_LENGTH) &&
      embeds.reduce((sum, one) => sum + lengthOf(one), 0) <= MAX_CHARACTERS,
  );
}

function descriptionOf({ sections, more, link }: Message): string {
  const parts = sections.flatMap(({ heading, lines, entries }) => [
    ...(heading ? [`**${escaped(heading)}**`] : []),
    ...(lines.length > 0 ? [lines.map(escaped).join('\n')] : []),
    ...entries.map(entryText),
  ]);
  return [...parts, moreLine(more), link ? `[${escaped(link.label)}](${inParentheses(link.url)})` : '']
    .filter(Boolean)
    .join('\n\n');
}

function entryText({ title, url, text, meta }: Entry): string {
  const shown = escaped(title) || '…';
  const head = url ? `**[${shown}](${inParentheses(url)})**` : `**${shown}**`;
  return [head, meta ? `*${escaped(meta)}*` : '', escaped(text)].filter(Boolean).join('\n');
}

/** Escapes a text: Discord's Markdown shows ASCII punctuation after a backslash unchanged. */
function escaped(text: string): string {
  return withoutPings(text).replace(/[\\*_~`|>#[\]()<:-]/g, (character) => `\\${character}`);
}

/** Returns an address in the form in which a Markdown link can contain it. */
function inParentheses(url: string): string {
  return url.replace(
    /[()<>\s\\]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

function lengthOf(embed: NonNullable<RESTPostAPIWebhookWithTokenJSONBody['embeds']>[number]): number {
  return (
    (embed.author?.name.length ?? 0) + (embed.description?.length ?? 0) + (embed.footer?.text.length ?? 0)
  );
}
