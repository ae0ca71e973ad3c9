import type { FakePost } from '../../testing/connector-contract.js';

// Only for specs: small feeds.

/** Address of the invented feed. */
export const FEED_URL = 'https://news.lamps.example/feed.xml';

/** Returns an RSS 2.0 feed with these items. */
export function rss(items: string, channel = ''): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" ' +
    'xmlns:content="http://purl.org/rss/1.0/modules/content/">\n<channel><title>Lamp News</title>' +
    `<link>https://news.lamps.example/</link><description>On and off</description>${channel}${items}</channel>\n</rss>\n`
  );
}

/** Returns an RSS item for each post. */
export function rssItems(posts: readonly FakePost[]): string {
  return posts
    .map(
      ({ n, at }) =>
        `<item><title>Lamp &amp;amp; number ${n}</title><link>https://news.lamps.example/${n}?a=1&amp;b=2</link>` +
        `<guid isPermaLink="false">lamp-${n}</guid><pubDate>${at.toUTCString()}</pubDate>` +
        '<dc:creator>Ada Byron</dc:creator><category>Lamps</category><category>Light</category>' +
        '<description>&lt;p&gt;Bright &lt;b&gt;and&lt;/b&gt; cheap.&lt;/p&gt;</description></item>\n',
    )
    .join('');
}
