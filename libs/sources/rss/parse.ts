import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { MAX_ENTRIES, readEntries } from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { articleOf, repeatedGuidsOf } from './article.js';
import { parseFeedDate } from './dates.js';
import { decodeFeed } from './decode.js';
import { readDocument } from './document.js';
import { present, type FeedEntry } from './entry.js';
import { resolveBase } from './links.js';

/** The origin of a feed's bytes. */
export interface FeedOrigin {
  /** The address in the search. */
  feedUrl: string;
  /** The address of the response, after redirects. */
  url: string;
  contentType?: string | undefined;
  contentLocation?: string | undefined;
}

/** The content of a feed, in the order of the feed. Only a feed that is too long is sorted, newest first. */
export interface FeedAnswer {
  items: SourceItem[];
  warnings: string[];
}

/** A feed's content as it is cached and passed between threads. The items are serialized messages. */
export interface StoredFeed {
  items: Uint8Array[];
  warnings: string[];
  /** The feed asks not to be read again for this many minutes. */
  ttl: number | undefined;
}

/**
 * Reads the bytes of a feed: RSS 0.9x and 2.0, RDF, Atom, JSON Feed. From a very long feed it reads only the newest
 * entries.
 * @throws UpstreamError
 */
export function parseFeed(bytes: Uint8Array, origin: FeedOrigin): StoredFeed {
  const { content, entryCount, isTruncated } = readDocument(decodeFeed(bytes, origin.contentType));
  const place = {
    feedUrl: origin.feedUrl,
    base: resolveBase(content.base, resolveBase(origin.contentLocation, origin.url)),
    feed: content,
    repeatedGuids: repeatedGuidsOf(content.entries),
  };
  // The parser drops empty entries. They are added here so that the warnings count them.
  const empty = Array.from({ length: Math.max(0, entryCount - content.entries.length) }, () => undefined);
  const entries = newestFirst(content.entries);
  const { items, warnings } = readEntries('rss', [...entries, ...empty], (entry) => {
    const item = entry && articleOf(entry, place);
    return item ? { item } : { malformed: 'no guid, link, title, date or text' };
  });
  if (isTruncated) warnings.push('rss: the end of the feed is missing; the entries before it were read');
  return { items: items.map((item) => toBinary(ItemSchema, item)), warnings, ttl: content.ttl };
}

/**
 * Like `parseFeed`, with deserialized items. Parses on this thread.
 * @throws UpstreamError
 */
export function parseFeedAnswer(bytes: Uint8Array, origin: FeedOrigin): FeedAnswer {
  return answerOf(parseFeed(bytes, origin));
}

/** Deserializes the items of a stored feed. */
export function answerOf({ items, warnings }: StoredFeed): FeedAnswer {
  return { items: items.map((item) => fromBinary(ItemSchema, item)), warnings };
}

/** Sorts the entries of a feed that is longer than the limit, so that the newest ones are read. */
function newestFirst(entries: readonly FeedEntry[]): readonly FeedEntry[] {
  if (entries.length <= MAX_ENTRIES) return entries;
  const dated = entries.map((entry) => ({ entry, at: present(entry.dates.map(parseFeedDate))[0] ?? '' }));
  return dated.sort((a, b) => b.at.localeCompare(a.at)).map(({ entry }) => entry);
}
