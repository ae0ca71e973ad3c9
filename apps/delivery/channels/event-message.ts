import { BODY_KEYS, type SourceId } from '#contracts';
import { displayUrl } from '#http-out';
import { newsOf, priceText } from './item-news.js';
import { cut, linkable, oneLine, plain, type Entry, type Message } from './message.js';

const MAX_TITLE_LENGTH = 300;
const MAX_TEXT_LENGTH = 1000;

/** The display names of the sources. */
export const SOURCE_NAMES: Readonly<Record<SourceId, string>> = {
  x: 'X',
  reddit: 'Reddit',
  youtube: 'YouTube',
  tiktok: 'TikTok',
  bluesky: 'Bluesky',
  hackernews: 'Hacker News',
  mastodon: 'Mastodon',
  lemmy: 'Lemmy',
  github: 'GitHub',
  producthunt: 'Product Hunt',
  stackoverflow: 'Stack Overflow',
  rss: 'RSS',
  ai_answers: 'AI answers',
  vinted: 'Vinted',
};

type Json = Record<string, unknown>;

/**
 * Returns the message about one event.
 * @param envelope the bytes of the event's envelope
 * @param disabledName the name of the channel that an event `channel.disabled` is about, if the channel still exists
 */
export function eventMessage(envelope: Uint8Array, keywordName: string, disabledName?: string): Message {
  const event = JSON.parse(Buffer.from(envelope).toString()) as Json;
  const name = cut(oneLine(keywordName), 80);
  const type = textOf(event['type']);
  const data = objectOf(event['data']);
  if (data) return keywordMessage(type, { ...data, disabledName }, name);
  const body = BODY_KEYS.map((key) => objectOf(event[key])).find((one) => one !== undefined) ?? {};
  const source = sourceName(textOf(body['source']));
  return {
    title: [name, source].filter(Boolean).join(': '),
    sections: [{ heading: '', lines: [], entries: [entryOf(event, body, source)] }],
    more: 0,
    link: null,
    footer: `Earshot · ${name}`,
  };
}

/** Returns the display name of a source, or its id if the source is not known. */
export function sourceName(source: string): string {
  return SOURCE_NAMES[source as SourceId] ?? oneLine(source);
}

function entryOf(event: Json, body: Json, source: string): Entry {
  const analysis = objectOf(event['analysis']) ?? {};
  const text = firstText(body, ['text', 'selftext', 'summary', 'description', 'answer']);
  const type = textOf(event['type']);
  const [price, currency] = [numberOf(body['price']), textOf(body['currency'])];
  const title = firstText(body, ['title', 'name', 'prompt']);
  const meta = [
    newsOf({
      ...{ type, price, currency, previousPrice: numberOf(event['previousPrice']) },
      brand: textOf(body['brand']) || null,
    }),
    firstText(body, ['author', 'authorName', 'engine']),
    firstText(body, ['community', 'subreddit']),
    // The news of a changed price contains the price.
    price === null || type === 'listing.price_changed' ? '' : priceText(price, currency),
    textOf(analysis['sentiment']),
    textOf(analysis['intent']).replaceAll('_', ' '),
  ];
  return {
    title: cut(oneLine(title || text || `New on ${source}`), MAX_TITLE_LENGTH),
    url: linkable(firstText(body, ['url', 'hnUrl', 'permalink'])),
    text: title
      ? cut(plain(text), MAX_TEXT_LENGTH)
      : text.length > MAX_TITLE_LENGTH
        ? cut(plain(text), MAX_TEXT_LENGTH)
        : '',
    meta: cut(oneLine(meta.filter(Boolean).join(' · ')), MAX_TITLE_LENGTH),
  };
}

function keywordMessage(type: string, data: Json, name: string): Message {
  const { head, lines, url } = keywordText(type, data);
  return {
    title: cut(`${name}: ${oneLine(head)}`, MAX_TITLE_LENGTH),
    sections: [
      { heading: '', lines: lines.map((line) => cut(oneLine(line), MAX_TITLE_LENGTH)), entries: [] },
    ],
    more: 0,
    link: url ? { label: 'Open the report', url } : null,
    footer: `Earshot · ${name}`,
  };
}

function keywordText(type: string, data: Json): { head: string; lines: string[]; url: string | null } {
  switch (type) {
    case 'keyword.alert_fired': {
      const rule = objectOf(data['rule']) ?? {};
      const name = textOf(rule['name']) || `spike (${textOf(rule['spike'])})`;
      const window = objectOf(data['window']) ?? {};
      return {
        head: `alert: ${name}`,
        lines: [
          `Observed ${numberText(data['observed'])}, usually ${numberText(data['baseline'])}`,
          `From ${textOf(window['from'])} to ${textOf(window['to'])}`,
        ],
        url: null,
      };
    }
    case 'keyword.report_ready':
      return { head: 'the weekly report is ready', lines: [], url: linkable(data['url']) };
    case 'keyword.paused':
      return {
        head: 'the keyword is paused',
        lines: [`Reason: ${textOf(data['reason']).replaceAll('_', ' ')}`],
        url: null,
      };
    case 'keyword.resumed':
      return { head: 'the keyword runs again', lines: [], url: null };
    case 'channel.disabled':
      return {
        head: `a channel is disabled: ${textOf(data['kind'])}`,
        lines: [
          `Channel: ${disabledChannel(data)}`,
          `Reason: ${textOf(data['reason'])}`,
          'The channel gets nothing until it is enabled again.',
        ],
        url: null,
      };
    default:
      return { head: type, lines: [], url: null };
  }
}

function disabledChannel(data: Json): string {
  const id = textOf(data['channelId']);
  const name = textOf(data['disabledName']);
  // The query of an address and its user can be secrets.
  return displayUrl(textOf(data['url'])) || (name ? `${name} (${id})` : id);
}

function firstText(body: Json, keys: readonly string[]): string {
  return keys.map((key) => textOf(body[key])).find((text) => text.trim() !== '') ?? '';
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberText(value: unknown): string {
  return typeof value === 'number' ? String(Math.round(value * 100) / 100) : '?';
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}
