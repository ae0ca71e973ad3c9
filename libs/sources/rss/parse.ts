import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { MOST_ENTRIES, readEntries } from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { articleOf, repeatedGuidsOf } from './article.js';
import { parseFeedDate } from './dates.js';
import { decodeFeed } from './decode.js';
import { readDocument } from './document.js';
import { present, type FeedEntry } from './entry.js';
import { resolveBase } from './links.js';

/** Where a feed's bytes came from. */
export interface FeedOrigin {
  /** As the search names it. */
  feedUrl: string;
  /** Where it was read, after redirects. */
  url: string;
  contentType?: string | undefined;
  contentLocation?: string | undefined;
}

/** What a feed holds, newest first. */
export interface FeedAnswer {
  items: SourceItem[];
  warnings: string[];
}

/** A feed's answer as it crosses threads and is kept: the items are messages. */
export interface StoredFeed {
  items: Uint8Array[];
  warnings: string[];
  /** Minutes that the feed asks not to be read again for. */
  ttl: number | undefined;
}

/** Reads the bytes of a feed: RSS 0.9x and 2.0, RDF, Atom, JSON Feed; the newest entries of a very long one. Throws `UpstreamError`. */
export function parseFeed(bytes: Uint8Array, origin: FeedOrigin): StoredFeed {
  const { content, entryCount, brokenOff } = readDocument(decodeFeed(bytes, origin.contentType));
  const place = {
    feedUrl: origin.feedUrl,
    base: resolveBase(content.base, resolveBase(origin.contentLocation, origin.url)),
    feed: content,
    repeatedGuids: repeatedGuidsOf(content.entries),
  };
  // Entries with nothing in them never leave the parser: they are counted as what they are.
  const empty = Array.from({ length: Math.max(0, entryCount - content.entries.length) }, () => undefined);
  const entries = newestFirst(content.entries);
  const { items, warnings } = readEntries('rss', [...entries, ...empty], (entry) => {
    const item = entry && articleOf(entry, place);
    return item ? { item } : { malformed: 'no guid, link, title, date or text' };
  });
  if (brokenOff) warnings.push('rss: the feed breaks off before its end; the entries before that were read');
  return { items: items.map((item) => toBinary(ItemSchema, item)), warnings, ttl: content.ttl };
}

/** As `parseFeed`, on this thread. */
export function parseFeedAnswer(bytes: Uint8Array, origin: FeedOrigin): FeedAnswer {
  return answerOf(parseFeed(bytes, origin));
}

/** The answer that was stored. */
export function answerOf({ items, warnings }: StoredFeed): FeedAnswer {
  return { items: items.map((item) => fromBinary(ItemSchema, item)), warnings };
}

/** Where not all are read, it is the newest that are. */
function newestFirst(entries: readonly FeedEntry[]): readonly FeedEntry[] {
  if (entries.length <= MOST_ENTRIES) return entries;
  const dated = entries.map((entry) => ({ entry, at: present(entry.dates.map(parseFeedDate))[0] ?? '' }));
  return dated.sort((a, b) => b.at.localeCompare(a.at)).map(({ entry }) => entry);
}
