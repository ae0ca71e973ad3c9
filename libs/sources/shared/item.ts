import { create } from '@bufbuild/protobuf';
import { ItemSchema, type SourceId } from '#contracts';
import { derivedId } from '#kernel';
import { cutJson, cutText, TEXT_BYTES, TITLE_BYTES } from './size-limits.js';
import type { SourceItem } from '../source.js';

/** The data that a connector has about one item. Absent fields are unknown. */
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
  /** ISO 8601. A time before 1900 or after 2261 counts as unknown. */
  publishedAt?: string | undefined;
  /** ISO 8601: when Earshot saw the change. For sources that do not send dates. */
  happenedAt?: string | undefined;
  previousPrice?: number | undefined;
  engagement?: EngagementParts;
  media?: readonly { url: string; type: 'image' | 'video' | 'audio' | 'link' }[];
  /**
   * The source's object in the envelope, any JSON. `source`, `url`, `author` and `publishedAt` are added if they are
   * absent.
   */
  body: { id: string; [key: string]: unknown };
}

/** Counts from the source. */
export interface EngagementParts {
  likes?: number | undefined;
  replies?: number | undefined;
  shares?: number | undefined;
  views?: number | undefined;
  score?: number | undefined;
}

/** Kinds that reply to a post or a question. Their title is the title of the parent. */
const REPLY_KINDS = new Set(['comment', 'answer']);
const NAME_BYTES = 1024;
const URL_BYTES = 2048;
const LANG_BYTES = 35;
const MAX_MEDIA = 16;
/** Maximum size of an id: all stores, and their indexes, accept a key of this length. */
const ID_BYTES = 512;

/**
 * Builds an item in the common structure. All sources have the same size limits: a text is cut to 64 KiB and a title to
 * 1 KiB, and an address that is too long is left out. If something was cut or left out because of its size, `truncated`
 * is true in the item and in its body. So an item always fits into one message.
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

/** Limits fields, and records whether a field was too long. */
class FieldLimits {
  exceeded = false;

  text(text: string | undefined, maxBytes: number): string | undefined {
    if (text === undefined) return undefined;
    const kept = cutText(text, maxBytes);
    this.exceeded ||= kept.length < text.length;
    return kept;
  }

  /** An address that is too long is left out, because a cut address would be wrong. */
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

/**
 * Returns the id, or a shorter id that is derived from it if the id is too long. A cut id could be equal to another
 * item's id.
 */
function shortId(id: string): string {
  // Tables do not accept U+0000. With an item that cannot be stored, the check would fail again and again.
  const plain = id.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(plain) <= ID_BYTES) return plain;
  return `${cutText(plain, ID_BYTES / 2)}~${derivedId('long item id', plain)}`;
}

/** True for an instant that all tables accept. */
function isInstant(text: string | undefined): boolean {
  const ms = text === undefined ? NaN : Date.parse(text);
  return ms >= Date.UTC(1900, 0) && ms < Date.UTC(2262, 0);
}

/** True for a count that the wire format can represent. Fractions and numbers beyond 32 bits are ignored. */
function isCount(count: number | undefined): count is number {
  return count !== undefined && Number.isInteger(count) && Math.abs(count) <= 0x7fff_ffff;
}
