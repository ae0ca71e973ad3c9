import { create } from '@bufbuild/protobuf';
import { ItemSchema, type SourceId } from '#contracts';
import type { SourceItem } from './source.js';

/** What a connector knows of one item; absent where the source says nothing. */
export interface ItemParts {
  itemId: string;
  eventType: string;
  kind: string;
  url: string;
  title?: string | undefined;
  text?: string | undefined;
  author?: string | undefined;
  authorName?: string | undefined;
  authorUrl?: string | undefined;
  community?: string | undefined;
  lang?: string | undefined;
  publishedAt?: string | undefined;
  /** ISO 8601: when we saw it happen, where the source gives no date. */
  happenedAt?: string | undefined;
  previousPrice?: number | undefined;
  engagement?: EngagementParts;
  media?: readonly { url: string; type: 'image' | 'video' | 'audio' | 'link' }[];
  /** The envelope's source object; source, url, author and publishedAt are filled in unless given. */
  body: { id: string; [key: string]: unknown };
}

/** Counts as the source gives them. */
export interface EngagementParts {
  likes?: number | undefined;
  replies?: number | undefined;
  shares?: number | undefined;
  views?: number | undefined;
  score?: number | undefined;
}

/** Kinds that answer a post or a question, whose title is all that they have of one. */
const REPLY_KINDS = new Set(['comment', 'answer']);

/** An item in the shape that all sources share. */
export function buildItem(source: SourceId, parts: ItemParts): SourceItem {
  const { body, engagement, media = [], ...fields } = parts;
  const { id, ...more } = body;
  const counts = Object.entries(engagement ?? {}).filter(([, count]) => isCount(count));
  return create(ItemSchema, {
    ...fields,
    // No table takes U+0000, and an item that cannot be remembered would fail its check for ever.
    itemId: parts.itemId.replaceAll('\0', ''),
    source,
    titleOfParent: REPLY_KINDS.has(parts.kind),
    ...(counts.length > 0 && { engagement: Object.fromEntries(counts) }),
    media: media.map((one) => ({ ...one })),
    bodyJson: JSON.stringify({
      id,
      source,
      url: parts.url,
      author: parts.author ?? null,
      publishedAt: parts.publishedAt ?? null,
      ...more,
    }),
  });
}

/** What the wire can carry: an upstream that counts in fractions, or beyond 32 bits, has not told a count. */
function isCount(count: number | undefined): count is number {
  return count !== undefined && Number.isInteger(count) && Math.abs(count) <= 0x7fff_ffff;
}
