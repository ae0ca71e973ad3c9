import { derivedId } from '#kernel';
import { htmlToLine, htmlToText } from '../shared/html-text.js';
import { buildItem, type ItemParts } from '../shared/item.js';
import { cleanText } from '../shared/shape.js';
import { cutText } from '../shared/size-limits.js';
import type { SourceItem } from '../source.js';
import { parseDateForId, parseFeedDate } from './dates.js';
import { present, type FeedContent, type FeedEntry, type FeedText } from './entry.js';
import { resolveBase, resolveLink } from './links.js';

/** The place where an article was found. */
export interface ArticlePlace {
  /**
   * The feed's address as written in the search, even if the feed has moved, because the ids of items are derived from
   * it.
   */
  feedUrl: string;
  /** The base of relative links. */
  base: string;
  feed: FeedContent;
  /** Guids that several articles of this feed share. */
  repeatedGuids: ReadonlySet<string>;
}

const SUMMARY_BYTES = 5_000;

type MediaType = 'image' | 'video' | 'audio' | 'link';

// The media types by the ending of the address, for media whose type the feed does not state.
const BY_ENDING: readonly [RegExp, MediaType][] = [
  [/\.(jpe?g|png|gif|webp|avif)(\?|$)/i, 'image'],
  [/\.(mp4|webm|mov|m3u8)(\?|$)/i, 'video'],
  [/\.(mp3|m4a|ogg|opus|wav)(\?|$)/i, 'audio'],
];

/** Returns the item of an entry. Undefined if the guid, link, title, date and text are all missing. */
export function articleOf(entry: FeedEntry, place: ArticlePlace): SourceItem | undefined {
  const { feed, feedUrl } = place;
  const base = resolveBase(entry.base, place.base);
  const link = present(entry.links.map((one) => resolveLink(one, base)))[0];
  const title = lineOf(entry.title);
  const publishedAt = present(entry.dates.map(parseFeedDate))[0];
  const summary = cutText(lineOf(entry.summary ?? entry.content), SUMMARY_BYTES);
  const { repeatedGuids } = place;
  const date = present(entry.dates.map(parseDateForId))[0];
  const identity = identityOf(entry, { link, title, date, summary, repeatedGuids });
  if (identity === '') return undefined;

  const author = nameOf(entry.author) ?? nameOf(feed.author);
  const lang = entry.lang ?? feed.lang;
  const media = mediaOf(entry, base);
  const itemId = `rss:${derivedId('rss', feedUrl, identity)}`;
  return buildItem('rss', {
    itemId,
    eventType: 'article.created',
    kind: 'article',
    // An entry without its own link gets the link of the feed.
    url: link ?? resolveLink(feed.link, place.base) ?? feedUrl,
    title,
    text: paragraphsOf(entry.content ?? entry.summary),
    author,
    lang,
    publishedAt,
    media,
    body: {
      id: itemId,
      url: link ?? null,
      guid: entry.guid ?? null,
      title,
      summary,
      feedUrl,
      feedTitle: lineOf(feed.title),
      categories: [...new Set(entry.categories.map(htmlToLine))],
      media,
      lang: lang ?? null,
    },
  });
}

/** Returns the guids that several entries with different links share. Some feeds use one guid for every entry. */
export function repeatedGuidsOf(entries: readonly FeedEntry[]): Set<string> {
  const links = new Map<string, Set<string>>();
  for (const {
    guid,
    links: [link = ''],
  } of entries) {
    if (guid !== undefined) links.set(guid, (links.get(guid) ?? new Set()).add(link));
  }
  return new Set([...links].filter(([, of]) => of.size > 1).map(([guid]) => guid));
}

interface IdentityParts {
  link: string | undefined;
  title: string;
  date: string | undefined;
  summary: string;
  repeatedGuids: ReadonlySet<string>;
}

// An empty text means that the entry cannot be distinguished from others.
function identityOf({ guid }: FeedEntry, parts: IdentityParts): string {
  const { link, title, date, summary, repeatedGuids } = parts;
  if (guid !== undefined) return repeatedGuids.has(guid) ? `${guid} ${link ?? title}` : guid;
  if (link !== undefined) return link;
  return title === '' && date === undefined ? summary : `${title} ${date ?? ''}`;
}

function mediaOf(entry: FeedEntry, base: string): NonNullable<ItemParts['media']> {
  const found = entry.media.flatMap(({ url, mimeType = '', kind = '' }) => {
    const resolved = resolveLink(url, base);
    return resolved === undefined ? [] : [{ url: resolved, type: mediaType(mimeType, kind, resolved) }];
  });
  return [...new Map(found.map((one) => [one.url, one])).values()];
}

function mediaType(mimeType: string, kind: string, url: string): MediaType {
  const name = kind !== '' ? kind : (mimeType.split('/')[0] ?? '');
  if (name === 'image' || name === 'video' || name === 'audio') return name;
  return BY_ENDING.find(([ending]) => ending.test(url))?.[1] ?? 'link';
}

function paragraphsOf(text: FeedText | undefined): string {
  if (text === undefined) return '';
  return text.html ? htmlToText(text.value) : cleanText(text.value).trim();
}

function lineOf(text: FeedText | undefined): string {
  if (text === undefined) return '';
  return text.html ? htmlToLine(text.value) : cleanText(text.value).replace(/\s+/g, ' ').trim();
}

function nameOf(author: string | undefined): string | undefined {
  const name = author === undefined ? '' : htmlToLine(author);
  return name === '' ? undefined : name;
}
