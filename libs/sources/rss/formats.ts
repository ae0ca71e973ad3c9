import type { parseFeed } from 'feedsmith';
import { isAbsolute } from './links.js';
import { htmlText, present, type FeedContent, type FeedEntry, type FeedText } from './entry.js';

type Parsed = ReturnType<typeof parseFeed<string>>;
type Rss = Extract<Parsed, { format: 'rss' }>['feed'];
type Rdf = Extract<Parsed, { format: 'rdf' }>['feed'];
type Atom = Extract<Parsed, { format: 'atom' }>['feed'];
type Json = Extract<Parsed, { format: 'json' }>['feed'];
type ItemOf<Feed extends { items?: unknown }> =
  NonNullable<Feed['items']> extends (infer Item)[] ? Item : never;
type AtomEntry = NonNullable<Atom['entries']>[number];
type MediaNs = ItemOf<Rss>['media'];

/** Converts the feed to a structure that is independent of its format. */
export function contentOf(parsed: Parsed): FeedContent {
  switch (parsed.format) {
    case 'rss':
      return rssContent(parsed.feed);
    case 'rdf':
      return rdfContent(parsed.feed);
    case 'atom':
      return atomContent(parsed.feed);
    case 'json':
      return jsonContent(parsed.feed);
  }
}

function rssContent(feed: Rss): FeedContent {
  return {
    title: htmlText(feed.title),
    link: feed.link,
    author: feed.dc?.creators?.[0] ?? personName(feed.managingEditor) ?? feed.itunes?.author,
    lang: feed.language ?? feed.dc?.languages?.[0] ?? feed.xml?.lang,
    base: feed.xml?.base,
    ttl: feed.ttl,
    entries: (feed.items ?? []).map(rssEntry),
  };
}

function rssEntry(item: ItemOf<Rss>): FeedEntry {
  const { guid } = item;
  const guidLink =
    guid?.isPermaLink !== false && guid?.value && isAbsolute(guid.value) ? guid.value : undefined;
  const enclosures = item.enclosures ?? [];
  return {
    guid: guid?.value,
    links: present([item.link, guidLink, enclosures[0]?.url]),
    title: htmlText(item.title ?? item.dc?.titles?.[0] ?? item.media?.title?.value),
    content: htmlText(item.content?.encoded),
    summary: htmlText(item.description ?? item.dc?.descriptions?.[0] ?? item.media?.description?.value),
    dates: present([item.pubDate, ...(item.dc?.dates ?? []), item.atom?.published, item.atom?.updated]),
    author: item.dc?.creators?.[0] ?? personName(item.authors?.[0]) ?? item.atom?.authors?.[0]?.name,
    categories: [...present((item.categories ?? []).map(({ name }) => name)), ...(item.dc?.subjects ?? [])],
    media: [
      ...enclosures.flatMap(({ url, type }) => (url ? [{ url, mimeType: type }] : [])),
      ...mediaOf(item.media),
    ],
    lang: item.dc?.languages?.[0] ?? item.xml?.lang,
    base: item.xml?.base,
  };
}

function rdfContent(feed: Rdf): FeedContent {
  return {
    title: htmlText(feed.title),
    link: feed.link,
    author: feed.dc?.creators?.[0],
    lang: feed.dc?.languages?.[0] ?? feed.xml?.lang,
    base: feed.xml?.base,
    entries: (feed.items ?? []).map((item) => ({
      guid: item.rdf?.about,
      links: present([item.link, item.rdf?.about && isAbsolute(item.rdf.about) ? item.rdf.about : undefined]),
      title: htmlText(item.title ?? item.dc?.titles?.[0]),
      content: htmlText(item.content?.encoded),
      summary: htmlText(item.description ?? item.dc?.descriptions?.[0]),
      dates: present([...(item.dc?.dates ?? []), item.dcterms?.issued?.[0], item.atom?.updated]),
      author: item.dc?.creators?.[0],
      categories: item.dc?.subjects ?? [],
      media: mediaOf(item.media),
      lang: item.dc?.languages?.[0],
      base: item.xml?.base,
    })),
  };
}

function atomContent(feed: Atom): FeedContent {
  return {
    title: atomText(feed.title),
    link: alternateOf(feed.links),
    author: feed.authors?.[0]?.name ?? feed.authors?.[0]?.email,
    lang: feed.xml?.lang,
    base: feed.xml?.base,
    entries: (feed.entries ?? []).map(atomEntry),
  };
}

function atomEntry(entry: AtomEntry): FeedEntry {
  const links = entry.links ?? [];
  const enclosures = links.filter(({ rel }) => rel === 'enclosure');
  const named = entry.authors?.[0] ?? entry.source?.authors?.[0];
  return {
    guid: entry.id,
    links: present([alternateOf(links), entry.content?.src, enclosures[0]?.href]),
    title: atomText(entry.title) ?? htmlText(entry.media?.title?.value),
    content:
      entry.content?.value === undefined
        ? undefined
        : atomText({ ...entry.content, value: entry.content.value }),
    summary: atomText(entry.summary) ?? htmlText(entry.media?.groups?.[0]?.description?.value),
    dates: present([entry.published, entry.updated, ...(entry.dc?.dates ?? [])]),
    author: named?.name ?? named?.email ?? entry.dc?.creators?.[0],
    categories: present((entry.categories ?? []).map(({ label, term }) => label ?? term)),
    media: [
      ...enclosures.flatMap(({ href, type }) => (href ? [{ url: href, mimeType: type }] : [])),
      ...mediaOf(entry.media),
    ],
    lang: entry.xml?.lang,
    base: entry.xml?.base,
  };
}

function jsonContent(feed: Json): FeedContent {
  return {
    title: htmlText(feed.title),
    link: feed.home_page_url,
    author: feed.authors?.[0]?.name,
    lang: feed.language,
    entries: (feed.items ?? []).map((item) => ({
      guid: item.id,
      links: present([item.url, item.external_url]),
      title: htmlText(item.title),
      content:
        item.content_text === undefined
          ? htmlText(item.content_html)
          : { value: item.content_text, html: false },
      summary: item.summary === undefined ? undefined : { value: item.summary, html: false },
      dates: present([item.date_published, item.date_modified]),
      author: item.authors?.[0]?.name,
      categories: item.tags ?? [],
      media: [
        ...present([item.image, item.banner_image]).map((url) => ({ url, kind: 'image' })),
        ...(item.attachments ?? []).flatMap(({ url, mime_type }) =>
          url ? [{ url, mimeType: mime_type }] : [],
        ),
      ],
      lang: item.language,
    })),
  };
}

function alternateOf(links: AtomEntry['links']): string | undefined {
  return links?.find(({ rel, href }) => href && (rel === undefined || rel === 'alternate'))?.href;
}

// Text with tags is read as HTML, even if the feed declares it as plain text.
function atomText(text: { value: string; type?: string | undefined } | undefined): FeedText | undefined {
  if (text === undefined) return undefined;
  const plain = text.type === undefined || text.type === 'text' || text.type === 'text/plain';
  return { value: text.value, html: !plain || /<\/?[a-z][^>]*>/i.test(text.value) };
}

function personName(person: { name?: string; email?: string } | undefined): string | undefined {
  return person?.name ?? person?.email;
}

function mediaOf(media: MediaNs): FeedEntry['media'] {
  const contents = [
    ...(media?.contents ?? []),
    ...(media?.groups ?? []).flatMap((group) => group.contents ?? []),
  ];
  const found = contents.flatMap(({ url, type, medium }) =>
    url ? [{ url, mimeType: type, kind: medium }] : [],
  );
  const thumbnails = [
    ...(media?.thumbnails ?? []),
    ...(media?.groups ?? []).flatMap((group) => group.thumbnails ?? []),
  ];
  if (found.length > 0) return found;
  return thumbnails.flatMap(({ url }) => (url ? [{ url, kind: 'image' }] : []));
}
