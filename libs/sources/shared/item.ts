import { create } from '@bufbuild/protobuf';
import { ItemSchema, type SourceId } from '#contracts';
import { derivedId } from '#kernel';
import { cutJson, cutText, TEXT_BYTES, TITLE_BYTES } from './size-limits.js';
import type { SourceItem } from '../source.js';

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
  /** The envelope's source object, any JSON; source, url, author and publishedAt are filled in unless given. */
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
const NAME_BYTES = 1024;
const URL_BYTES = 2048;
const LANG_BYTES = 35;
const MAX_MEDIA = 16;
/** Every store and every index takes a key of this length. */
const ID_BYTES = 512;

/**
 * An item in the shape that all sources share, within the limits of size that hold for all of them: a text keeps 64 KiB, a
 * title 1 KiB, an address that is too long is left out. What is cut says so (`truncated`), in the item and in its body. The
 * item always fits into one message, whatever the upstream sent.
 */
export function buildItem(source: SourceId, parts: ItemParts): SourceItem {
  const { body, engagement, media = [], previousPrice, ...fields } = parts;
  const limits = new FieldLimits();
  const counts = Object.entries(engagement ?? {}).filter(([, count]) => isCount(count));
  const url = limits.url(parts.url) ?? '';
  const author = limits.text(parts.author, NAME_BYTES);
  const publishedAt = isInstant(parts.publishedAt) ? parts.publishedAt : undefined;
  const { id, ...more } = body;
  const { value, json, cut } = cutJson({
    id: shortId(id),
    source,
    url: url || null,
    author: author ?? null,
    publishedAt: publishedAt ?? null,
    ...more,
  });
  const item = create(ItemSchema, {
    ...fields,
    itemId: shortId(parts.itemId),
    source,
    url,
    title: limits.text(parts.title, TITLE_BYTES),
    text: limits.text(parts.text, TEXT_BYTES),
    author,
    authorName: limits.text(parts.authorName, NAME_BYTES),
    authorUrl: limits.url(parts.authorUrl),
    community: limits.text(parts.community, NAME_BYTES),
    lang: limits.text(parts.lang, LANG_BYTES),
    publishedAt,
    titleOfParent: REPLY_KINDS.has(parts.kind),
    ...(Number.isFinite(previousPrice) && { previousPrice }),
    ...(counts.length > 0 && { engagement: Object.fromEntries(counts) }),
    media: limits.media(media),
  });
  const truncated = cut || limits.exceeded;
  return Object.assign(item, {
    truncated,
    bodyJson: truncated ? JSON.stringify({ ...value, truncated }) : json,
  });
}

/** Holds fields to their limits, and notes whether one was beyond its own. */
class FieldLimits {
  exceeded = false;

  text(text: string | undefined, maxBytes: number): string | undefined {
    if (text === undefined) return undefined;
    const kept = cutText(text, maxBytes);
    this.exceeded ||= kept.length < text.length;
    return kept;
  }

  /** Half an address leads elsewhere. */
  url(url: string | undefined): string | undefined {
    if (url === undefined || Buffer.byteLength(url) <= URL_BYTES) return url?.toWellFormed();
    this.exceeded = true;
    return undefined;
  }

  media(media: NonNullable<ItemParts['media']>): { url: string; type: string }[] {
    this.exceeded ||= media.length > MAX_MEDIA;
    return media.slice(0, MAX_MEDIA).flatMap(({ url, type }) => {
      const kept = this.url(url);
      return kept === undefined ? [] : [{ url: kept, type }];
    });
  }
}

/** The id, or one derived from it where it is too long: a cut one could be another thing's. */
function shortId(id: string): string {
  // No table takes U+0000, and an item that cannot be remembered would fail its check for ever.
  const plain = id.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(plain) <= ID_BYTES) return plain;
  return `${cutText(plain, ID_BYTES / 2)}~${derivedId('long item id', plain)}`;
}

/** An instant that every table takes. */
function isInstant(text: string | undefined): boolean {
  const ms = text === undefined ? NaN : Date.parse(text);
  return ms >= Date.UTC(1900, 0) && ms < Date.UTC(2262, 0);
}

/** What the wire can carry: an upstream that counts in fractions, or beyond 32 bits, has not told a count. */
function isCount(count: number | undefined): count is number {
  return count !== undefined && Number.isInteger(count) && Math.abs(count) <= 0x7fff_ffff;
}
