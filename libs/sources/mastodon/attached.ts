import type { ItemParts } from '../shared/item.js';
import { countOf, isoOfText, listOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';

/** The attached content of a status. */
export interface Attached {
  media: NonNullable<ItemParts['media']>;
  attachments: { url: string; type: string; description: string }[];
  card: { url: string; title: string; description: string; type: string | null } | null;
  poll: Poll | null;
  tags: string[];
  mentions: string[];
}

/** The poll of a status. */
export interface Poll {
  options: { title: string; votes: number | null }[];
  multiple: boolean;
  expiresAt: string | null;
}

/** Reads attachments, link card, poll, hashtags and mentions of a status. */
export function attachedOf(status: JsonRecord): Attached {
  const attachments = attachmentsOf(status['media_attachments']);
  const card = cardOf(status['card']);
  return {
    media: [
      ...attachments.map(({ url, type }) => ({ url, type: mediaTypeOf(type) })),
      ...(card ? [{ url: card.url, type: 'link' as const }] : []),
    ],
    attachments,
    card,
    poll: pollOf(status['poll']),
    tags: textsOf(status['tags'], 'name'),
    mentions: textsOf(status['mentions'], 'acct'),
  };
}

function attachmentsOf(value: unknown): Attached['attachments'] {
  return (listOf(value) ?? []).flatMap((entry) => {
    const attachment = recordOf(entry);
    // An instance without copies of remote files sends only their remote addresses.
    const url = textOf(attachment?.['url']) ?? textOf(attachment?.['remote_url']);
    if (url === undefined) return [];
    const type = textOf(attachment?.['type']) ?? 'unknown';
    return [{ url, type, description: textOf(attachment?.['description']) ?? '' }];
  });
}

function mediaTypeOf(type: string): 'image' | 'video' | 'audio' | 'link' {
  switch (type) {
    case 'image':
    case 'video':
    case 'audio':
      return type;
    case 'gifv':
      return 'video';
    default:
      return 'link';
  }
}

function cardOf(value: unknown): Attached['card'] {
  const card = recordOf(value);
  const url = textOf(card?.['url']);
  if (!card || url === undefined) return null;
  return {
    url,
    title: textOf(card['title']) ?? '',
    description: textOf(card['description']) ?? '',
    type: textOf(card['type']) ?? null,
  };
}

function pollOf(value: unknown): Poll | null {
  const poll = recordOf(value);
  if (!poll) return null;
  return {
    options: (listOf(poll['options']) ?? []).flatMap((entry) => {
      const option = recordOf(entry);
      const title = textOf(option?.['title']);
      return title === undefined ? [] : [{ title, votes: countOf(option?.['votes_count']) ?? null }];
    }),
    multiple: poll['multiple'] === true,
    expiresAt: isoOfText(poll['expires_at']) ?? null,
  };
}

function textsOf(value: unknown, key: string): string[] {
  return (listOf(value) ?? []).flatMap((entry) => textOf(recordOf(entry)?.[key]) ?? []);
}
