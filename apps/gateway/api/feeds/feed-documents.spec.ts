import fc from 'fast-check';
import { parseAtomFeed, parseJsonFeed } from 'feedsmith';
import type { MentionRow } from '#clickhouse';
import { newId } from '#kernel';
import { FeedAddresses } from './feed-addresses.js';
import { atomDocument, jsonDocument } from './feed-documents.js';

const row = {
  ...{ event_id: newId(), occurred_at: '2026-03-04 05:06:07.089', published_at: null, lang: 'en' },
  ...{ source: 'reddit', url: 'https://example.org/?a=1&b="2"', title: 'T', text: 'B', labels: ['starred'] },
  ...{ author: 'ada', author_name: null, sentiment: 'positive' },
} as unknown as MentionRow;
const content = (mentions: MentionRow[], name = 'Acme') => ({
  ...{ keywordId: newId(), name, mentions, since: new Date(0) },
  address: 'https://earshot.example/feeds/x.xml',
});

describe('the feed of a keyword', () => {
  it('contains each text of a post as text, never as markup [feeds.open]', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom(
        '<script>alert(1)</script>',
        ']]>',
        '&amp;',
        '\u0000\u0001\ud800\uffff',
        '<!--',
        '&#x1;',
      ),
    );
    // oxlint-disable-next-line no-control-regex -- the characters that XML allows
    const visible = (text: string) => text.toWellFormed().replace(/[^\u0009\u000a\u000d\u0020-\ufffd]/gu, '');
    fc.assert(
      fc.property(hostile, hostile, hostile, (title, text, author) => {
        const feed = content([{ ...row, title, text, author }], title);
        const xml = atomDocument(feed);
        expect(visible(xml).replace(/[\ud800-\udfff]/g, '')).toBe(xml.replace(/[\ud800-\udfff]/g, ''));
        const markup = xml.replace(/<!\[CDATA\[.*?\]\]>/gs, '');
        expect(markup).not.toMatch(/<(script|!)/);
        expect(parseAtomFeed(xml).entries).toHaveLength(1);
        expect(parseJsonFeed(JSON.parse(jsonDocument(feed))).items).toHaveLength(1);
      }),
    );
  });

  it('has the id, time, address, author and tags of each mention, and leaves out addresses that are not web pages', () => {
    const [entry] = parseAtomFeed(atomDocument(content([row]))).entries ?? [];
    expect(entry).toMatchObject({
      ...{ id: `urn:uuid:${row.event_id}`, title: { value: 'T' }, content: { value: 'B', type: 'text' } },
      ...{ links: [{ href: row.url }], authors: [{ name: 'ada' }] },
      categories: [{ term: 'reddit' }, { term: 'positive' }, { term: 'starred' }],
    });
    const item = JSON.parse(jsonDocument(content([{ ...row, url: 'javascript:alert(1)' }]))).items[0];
    expect(item).toMatchObject({
      id: row.event_id,
      date_published: '2026-03-04T05:06:07.089Z',
      language: 'en',
    });
    expect(item).not.toHaveProperty('url');
  });

  it('is a valid feed even without mentions', () => {
    expect(parseAtomFeed(atomDocument(content([])))).toMatchObject({ title: { value: 'Mentions of Acme' } });
    expect(JSON.parse(jsonDocument(content([])))).toMatchObject({
      version: 'https://jsonfeed.org/version/1.1',
      items: [],
    });
  });
});

describe('the address of a feed', () => {
  const [key, next] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const keyword = { keywordId: newId(), feedKey: '' };

  it('is valid only for one keyword, in one installation, until the addresses are replaced [feeds.rotate]', () => {
    const addresses = new FeedAddresses(key, '');
    const secret = addresses.secretOf(keyword);
    expect(secret).toMatch(/^[\w-]{54}$/);
    expect(addresses.keywordIdIn(secret)).toBe(keyword.keywordId);
    expect(addresses.isSecretOf(secret, keyword)).toBe(true);
    expect(addresses.isSecretOf(secret, { ...keyword, feedKey: 'x' })).toBe(false);
    expect(addresses.isSecretOf(secret, { ...keyword, keywordId: newId() })).toBe(false);
    expect(new FeedAddresses(next, '').isSecretOf(secret, keyword)).toBe(false);
    // During a rotation, the setting contains the new and the old master key.
    expect(new FeedAddresses(`${next},${key}`, '').isSecretOf(secret, keyword)).toBe(true);
  });

  it('is not valid with any other text in place of its secret', () => {
    const addresses = new FeedAddresses(key, '');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ minLength: 50, maxLength: 60 })), (text) => {
        const id = addresses.keywordIdIn(text);
        expect(id === undefined || !addresses.isSecretOf(text, keyword)).toBe(true);
      }),
    );
  });
});
