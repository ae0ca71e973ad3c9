import { readEntries } from '../shape.js';
import type { SourceItem } from '../source.js';
import { articleOf, repeatedGuidsOf } from './article.js';
import { decodeFeed } from './decode.js';
import { readDocument } from './document.js';
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

/** What a feed holds. */
export interface FeedAnswer {
  items: SourceItem[];
  warnings: string[];
}

/** Reads the bytes of a feed: RSS 0.9x and 2.0, RDF, Atom, JSON Feed. Throws `UpstreamError`. */
export function parseFeedAnswer(bytes: Uint8Array, origin: FeedOrigin): FeedAnswer {
  const { content, entryCount, brokenOff } = readDocument(decodeFeed(bytes, origin.contentType));
  const place = {
    feedUrl: origin.feedUrl,
    base: resolveBase(content.base, resolveBase(origin.contentLocation, origin.url)),
    feed: content,
    repeatedGuids: repeatedGuidsOf(content.entries),
  };
  // Entries with nothing in them never leave the parser: they are counted as what they are.
  const empty = Array.from({ length: Math.max(0, entryCount - content.entries.length) }, () => undefined);
  const { items, warnings } = readEntries('rss', [...content.entries, ...empty], (entry) => {
    const item = entry && articleOf(entry, place);
    return item ? { item } : { malformed: 'no guid, link, title, date or text' };
  });
  if (brokenOff) warnings.push('rss: the feed breaks off before its end; the entries before that were read');
  return { items, warnings };
}
