import type { SimPost } from '../../world/post.js';
import { escapeAttribute, escapeMarkup, paragraphsHtml } from '../shared/markup.js';

/** The content of a feed. The functions below write it in one of the formats. */
export interface Feed {
  name: string;
  /** The feed's own address. */
  url: string;
  /** Epoch milliseconds. */
  updatedAt: number;
  /** Newest first. */
  articles: readonly SimPost[];
}

/** The minutes that a reader of the RSS feed should wait between two reads. */
const TTL_MINUTES = 1;

/** Returns the feed as RSS 2.0 with `dc:creator` and `content:encoded`. */
export function rssFeed(feed: Feed): string {
  const items = feed.articles.map(
    (article) => `    <item>
      <title>${escapeMarkup(article.title)}</title>
      <link>${escapeMarkup(article.id)}</link>
      <guid isPermaLink="true">${escapeMarkup(article.id)}</guid>
      <pubDate>${new Date(article.publishedAt).toUTCString()}</pubDate>
      <dc:creator>${escapeMarkup(article.authorName)}</dc:creator>
      <description>${escapeMarkup(paragraphsHtml(article.text))}</description>
      <content:encoded><![CDATA[${paragraphsHtml(article.text).replaceAll(']]>', ']]]]><![CDATA[>')}]]></content:encoded>
    </item>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
  <channel>
    <title>${escapeMarkup(titleOf(feed))}</title>
    <link>${homeOf(feed)}</link>
    <atom:link href="${escapeAttribute(feed.url)}" rel="self" type="application/rss+xml"/>
    <description>News of an invented world</description>
    <language>en</language>
    <pubDate>${new Date(feed.updatedAt).toUTCString()}</pubDate>
    <ttl>${TTL_MINUTES}</ttl>
${items.join('\n')}
  </channel>
</rss>
`;
}

/** Returns the feed as Atom 1.0. */
export function atomFeed(feed: Feed): string {
  const entries = feed.articles.map(
    (article) => `  <entry>
    <title type="text">${escapeMarkup(article.title)}</title>
    <id>${escapeMarkup(article.id)}</id>
    <published>${isoOf(article.publishedAt)}</published>
    <updated>${isoOf(article.publishedAt)}</updated>
    <link rel="alternate" type="text/html" href="${escapeAttribute(article.id)}"/>
    <author><name>${escapeMarkup(article.authorName)}</name></author>
    <content type="html"${langOf(article)}>${escapeMarkup(paragraphsHtml(article.text))}</content>
  </entry>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title type="text">${escapeMarkup(titleOf(feed))}</title>
  <id>${homeOf(feed)}</id>
  <updated>${isoOf(feed.updatedAt)}</updated>
  <link rel="self" type="application/atom+xml" href="${escapeAttribute(feed.url)}"/>
  <link rel="alternate" type="text/html" href="${homeOf(feed)}"/>
${entries.join('\n')}
</feed>
`;
}

/** Returns the feed as RSS 1.0 (RDF): ids are in `rdf:about`, dates in `dc:date`. */
export function rdfFeed(feed: Feed): string {
  const sequence = feed.articles.map(({ id }) => `      <rdf:li rdf:resource="${escapeAttribute(id)}"/>`);
  const items = feed.articles.map(
    (article) => `<item rdf:about="${escapeAttribute(article.id)}">
  <title>${escapeMarkup(article.title)}</title>
  <link>${escapeMarkup(article.id)}</link>
  <description>${escapeMarkup(article.text)}</description>
  <dc:creator>${escapeMarkup(article.authorName)}</dc:creator>
  <dc:date>${isoOf(article.publishedAt)}</dc:date>
</item>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="${homeOf(feed)}">
  <title>${escapeMarkup(titleOf(feed))}</title>
  <link>${homeOf(feed)}</link>
  <description>News of an invented world</description>
  <dc:date>${isoOf(feed.updatedAt)}</dc:date>
  <items>
    <rdf:Seq>
${sequence.join('\n')}
    </rdf:Seq>
  </items>
</channel>
${items.join('\n')}
</rdf:RDF>
`;
}

/** Returns the feed as JSON Feed 1.1. */
export function jsonFeed(feed: Feed): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: titleOf(feed),
    description: 'News of an invented world',
    home_page_url: homeOf(feed),
    feed_url: feed.url,
    language: 'en',
    authors: [{ name: titleOf(feed) }],
    items: feed.articles.map((article) => ({
      id: article.id,
      url: article.id,
      title: article.title,
      content_html: paragraphsHtml(article.text),
      content_text: article.text,
      date_published: isoOf(article.publishedAt),
      date_modified: isoOf(article.publishedAt),
      authors: [{ name: article.authorName }],
      ...(article.lang && { language: article.lang }),
      tags: [],
    })),
  });
}

function titleOf(feed: Feed): string {
  return feed.name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
}

function homeOf(feed: Feed): string {
  return `https://${escapeAttribute(feed.name)}.example/`;
}

function langOf(article: SimPost): string {
  return article.lang ? ` xml:lang="${escapeAttribute(article.lang)}"` : '';
}

function isoOf(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
