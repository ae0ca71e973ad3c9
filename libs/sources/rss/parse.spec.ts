import { derivedId } from '#kernel';
import { SPEC_NOW } from '../testing/fake-upstream.js';
import { UpstreamError } from '../source.js';
import { parseFeedAnswer } from './index.js';
import { FEED_URL, rss, rssItems } from './testing/fixtures.js';

const idOf = (identity: string, feedUrl = FEED_URL) => `rss:${derivedId('rss', feedUrl, identity)}`;
function parse(body: string | Buffer, origin: Partial<Parameters<typeof parseFeedAnswer>[1]> = {}) {
  return parseFeedAnswer(Buffer.from(body), { feedUrl: FEED_URL, url: FEED_URL, ...origin });
}
const one = (...args: Parameters<typeof parse>) => parse(...args).items[0];
const item = (inner: string) => one(rss(`<item>${inner}</item>`));
const bodyOf = (found: ReturnType<typeof one>) =>
  JSON.parse(found?.bodyJson ?? '{}') as Record<string, unknown>;
const faultOf = (body: string) => {
  try {
    return JSON.stringify(parse(body));
  } catch (error) {
    return error instanceof UpstreamError ? `${error.kind}: ${error.message}` : String(error);
  }
};

describe('articles', () => {
  it('are read from RSS 2.0', () => {
    const article = one(rss(rssItems([{ n: 1, at: SPEC_NOW }]), '<language>en-gb</language>'));
    expect(article).toMatchObject({
      itemId: idOf('lamp-1'),
      eventType: 'article.created',
      kind: 'article',
      url: 'https://news.lamps.example/1?a=1&b=2',
      title: 'Lamp & number 1',
      text: 'Bright and cheap.',
      author: 'Ada Byron',
      lang: 'en-gb',
      publishedAt: '2026-03-04T12:00:00.000Z',
    });
    expect(bodyOf(article)).toEqual({
      id: idOf('lamp-1'),
      source: 'rss',
      url: 'https://news.lamps.example/1?a=1&b=2',
      author: 'Ada Byron',
      publishedAt: '2026-03-04T12:00:00.000Z',
      guid: 'lamp-1',
      title: 'Lamp & number 1',
      summary: 'Bright and cheap.',
      feedUrl: FEED_URL,
      feedTitle: 'Lamp News',
      categories: ['Lamps', 'Light'],
      media: [],
      lang: 'en-gb',
    });
  });

  it('are read from Atom', () => {
    const feed = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Lampen</title><author><name>Red.</name></author>
      <entry><id>tag:1</id><title type="html">&lt;b&gt;Neue&lt;/b&gt; Lampe</title><link rel="self" href="/self"/>
      <link href="https://l.example/1"/><link rel="enclosure" type="audio/mpeg" href="https://l.example/1.mp3"/>
      <updated>2026-03-04T13:00:00+01:00</updated><summary>Kurz &amp; gut</summary>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Eins</p><p>Zwei</p></div></content></entry></feed>`;
    expect(one(feed)).toMatchObject({
      itemId: idOf('tag:1'),
      url: 'https://l.example/1',
      title: 'Neue Lampe',
      text: 'Eins\n\nZwei',
      author: 'Red.',
      lang: 'de',
      publishedAt: '2026-03-04T12:00:00.000Z',
      media: [{ url: 'https://l.example/1.mp3', type: 'audio' }],
    });
    expect(bodyOf(one(feed))['summary']).toBe('Kurz & gut');
  });

  it('are read from RDF', () => {
    const feed = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
      xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://l.example"><title>L</title></channel>
      <item rdf:about="https://l.example/a"><title>Lamp</title><link>https://l.example/1</link><dc:date>2026-03-04T12:00:00Z</dc:date></item></rdf:RDF>`;
    expect(one(feed)).toMatchObject({
      itemId: idOf('https://l.example/a'),
      url: 'https://l.example/1',
      publishedAt: '2026-03-04T12:00:00.000Z',
    });
  });

  it('are read from JSON Feed', () => {
    const entry = {
      id: '1',
      url: '/1',
      title: 'Lamp',
      content_text: 'a < b',
      authors: [{ name: 'Ada' }],
      image: '/1.png',
    };
    const feed = { version: 'https://jsonfeed.org/version/1.1', title: 'Lamps', items: [entry] };
    expect(one(JSON.stringify(feed))).toMatchObject({
      url: 'https://news.lamps.example/1',
      text: 'a < b',
      author: 'Ada',
      media: [{ url: 'https://news.lamps.example/1.png', type: 'image' }],
    });
  });

  it('have the text of their content, and a summary without HTML', () => {
    const article = item(
      '<guid>1</guid><description>Short.</description><content:encoded><![CDATA[<p>Long</p><script>x</script><p>story</p>]]></content:encoded>',
    );
    expect([article?.text, bodyOf(article)['summary']]).toEqual(['Long\n\nstory', 'Short.']);
    expect(
      bodyOf(item('<guid>1</guid><content:encoded>&lt;p&gt;Only&lt;/p&gt;</content:encoded>'))['summary'],
    ).toBe('Only');
  });

  it.each([
    [
      'of their link',
      '<link>https://a.example/1</link><guid>https://a.example/2</guid>',
      'https://a.example/1',
    ],
    [
      'of their guid, if it is a permalink (the default)',
      '<guid>https://a.example/2</guid>',
      'https://a.example/2',
    ],
    [
      'of their enclosure',
      '<guid isPermaLink="false">https://a.example/2</guid><enclosure url="/3.mp3"/>',
      'https://news.lamps.example/3.mp3',
    ],
    [
      'of the site if the entry contains no address',
      '<guid>x</guid><title>Lamp</title>',
      'https://news.lamps.example/',
    ],
    [
      'that an address of Google redirects to',
      '<link>https://www.google.com/url?rct=j&amp;sa=t&amp;url=https://a.example/4%3Fb%3D1&amp;ct=ga</link>',
      'https://a.example/4?b=1',
    ],
    [
      'of the site if their link is a script',
      '<link>javascript:alert(1)</link><guid>x</guid>',
      'https://news.lamps.example/',
    ],
  ])('have the address %s', (_, inner, url) => {
    expect(item(inner)?.url).toBe(url);
  });

  it('have links relative to xml:base, to Content-Location or to the address after redirects, in this order', () => {
    const entry = '<item><link>a</link></item>';
    const based =
      '<rss version="2.0" xml:base="https://base.example/x/"><channel><item xml:base="y/"><link>a</link></item></channel></rss>';
    expect(one(based)?.url).toBe('https://base.example/x/y/a');
    expect(one(rss(entry), { contentLocation: '/located/feed' })?.url).toBe(
      'https://news.lamps.example/located/a',
    );
    expect(one(rss(entry), { url: 'https://moved.example/z/feed' })?.url).toBe('https://moved.example/z/a');
  });

  it('keep their id if the feed moves or their title changes, but have another id in another feed', () => {
    const entry = '<item><guid>7</guid><title>Old</title></item>';
    const changed = '<item><guid>7</guid><title>New</title></item>';
    expect(one(rss(changed), { url: 'https://moved.example/' })?.itemId).toBe(one(rss(entry))?.itemId);
    expect(one(rss(entry), { feedUrl: 'https://other.example/' })?.itemId).not.toBe(one(rss(entry))?.itemId);
  });

  it('are distinguished by guid and link if every guid is the same', () => {
    const entries = [1, 2].map((n) => `<item><guid>same</guid><link>https://a.example/${n}</link></item>`);
    expect(parse(rss(entries.join(''))).items.map(({ itemId }) => itemId)).toEqual([
      idOf('same https://a.example/1'),
      idOf('same https://a.example/2'),
    ]);
  });

  it.each(['2026-03', '2026-03T00:00:00Z'])(
    'are identified by the first day of the month if their date %s has no day, as in earlier versions',
    (date) => {
      const entry = (text: string) => `<item><title>Monthly report</title><dc:date>${text}</dc:date></item>`;
      const { items } = parse(rss(entry(date) + entry('2026-02')));
      const ids = ['2026-03', '2026-02'].map((month) => idOf(`Monthly report ${month}-01T00:00:00.000Z`));
      expect(items.map(({ itemId, publishedAt }) => [itemId, publishedAt])).toEqual(
        ids.map((id) => [id, undefined]),
      );
    },
  );

  it('are identified by link, by title and date, or by text, in this order, if they have no guid', () => {
    expect(item('<link>https://a.example/1</link><title>T</title>')?.itemId).toBe(
      idOf('https://a.example/1'),
    );
    const dated = '<title>T</title><pubDate>Wed, 04 Mar 2026 12:00:00 GMT</pubDate>';
    expect(item(dated)?.itemId).toBe(idOf('T 2026-03-04T12:00:00.000Z'));
    expect(item('<description>Words</description>')?.itemId).toBe(idOf('Words'));
  });

  it('have the first date that can be read, and never a guessed date', () => {
    const dates = '<guid>1</guid><pubDate>soon</pubDate><dc:date>2026-03-04T12:00:00Z</dc:date>';
    expect(item(dates)?.publishedAt).toBe('2026-03-04T12:00:00.000Z');
    const article = item('<guid>1</guid><pubDate>soon</pubDate>');
    expect([article?.publishedAt, bodyOf(article)['publishedAt']]).toEqual([undefined, null]);
  });

  it('are counted in a warning if they are empty', () => {
    expect(parse(rss('<item/><item><guid>1</guid></item>')).warnings).toEqual([
      'rss: 1 of 2 items could not be read: no guid, link, title, date or text',
    ]);
  });
});

describe('feeds with faults', () => {
  const entry = '<item><guid>1</guid><title>Lamp</title></item>';

  it.each([
    ['blanks before the declaration', `\n\n  ${rss(entry)}`],
    ['a byte order mark', `\ufeff${rss(entry)}`],
    ['a comment before the declaration', `<!-- x -->\n${rss(entry)}`],
    ['a bare ampersand', rss(`${entry}<item><guid>2</guid><title>R&D & more</title></item>`)],
    ['an undeclared prefix', rss(`<itunes:x>y</itunes:x>${entry}`)],
    ['a style sheet', rss(entry).replace('?>', '?><?xml-stylesheet href="a.xsl"?>')],
  ])('are read with %s', (_, feed) => {
    const { items, warnings } = parse(feed);
    expect([items[0]?.title, warnings]).toEqual(['Lamp', []]);
  });

  it.each([
    ['in an entry', `${rss(entry).split('</channel>')[0]}<item><title>Half a la`],
    ['in a CDATA section', `${rss(entry).split('</channel>')[0]}<item><title><![CD`],
    ['between entries', rss(entry).split('</channel>')[0] ?? ''],
    ['in the last tag', rss(entry).trimEnd().slice(0, -1)],
  ])('are read up to their last complete entry if they end %s', (_, feed) => {
    const { items, warnings } = parse(feed);
    expect(items.map(({ title }) => title)).toEqual(['Lamp']);
    expect(warnings).toContain('rss: the end of the feed is missing; the entries before it were read');
  });

  it.each([
    [
      '<!DOCTYPE rss [<!ENTITY a "b">]><rss version="2.0"/>',
      'not_parsable: rss answered a feed with a DOCTYPE, which is refused for safety',
    ],
    [
      `<?xml version="1.0"?>\n<!-- x --><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "x">${rss(entry)}`,
      'not_parsable: rss answered a feed with a DOCTYPE, which is refused for safety',
    ],
    ['<!DOCTYPE html><html></html>', 'not_parsable: rss answered HTML where a feed was expected'],
    ['<head><title>Moved</title></head>', 'not_parsable: rss answered HTML where a feed was expected'],
    ['<!-- nothing -->', 'not_parsable: rss answered an empty document where a feed was expected'],
    ['Not today', 'not_parsable: rss answered neither XML nor JSON where a feed was expected'],
    [
      '<rss version="2.0"><channel><title>L',
      'truncated: rss answered a feed that ends before its first entry is complete',
    ],
    [
      '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id"',
      'truncated: rss answered JSON that breaks off in the middle',
    ],
    [
      '<opml/>',
      'unknown_shape: rss answered in an unknown shape: expected RSS, Atom, RDF or JSON Feed, not <opml>',
    ],
  ])('are refused with a reason: %s', (feed, fault) => {
    expect(faultOf(feed)).toBe(fault);
  });

  it('can contain the word DOCTYPE', () => {
    expect(
      item('<guid>1</guid><description><![CDATA[<!DOCTYPE html> and <item>]]></description>')?.itemId,
    ).toBe(idOf('1'));
  });

  it('cannot expand entities or overflow the stack', () => {
    expect(item('<guid>1</guid><title>&lol;</title>')?.title).toBe('&lol;');
    expect(faultOf(`<rss version="2.0"><channel>${'<a>'.repeat(50_000)}</rss>`)).toMatch(/^unknown_shape/);
  });
});
