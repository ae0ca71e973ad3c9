import { toBinary } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import { buildItem } from './item.js';

const PARTS = {
  itemId: 'hn:1',
  eventType: 'hn_item.created',
  kind: 'story',
  url: 'https://example.org',
  body: { id: '1' },
};

describe('an item of any source', () => {
  it('leaves out counts that are too large or not whole, and keeps the other counts', () => {
    const item = buildItem('hackernews', {
      ...PARTS,
      engagement: { likes: 3, views: 3_000_000_000, score: 1.5, replies: -2 },
    });
    expect(item.engagement).toMatchObject({ likes: 3, replies: -2 });
    expect([item.engagement?.views, item.engagement?.score]).toEqual([undefined, undefined]);
    expect(() => toBinary(ItemSchema, item)).not.toThrow();
  });

  it.each([
    ['comment', true],
    ['answer', true],
    ['story', false],
  ])('has, for the kind `%s`, the value %s in `titleOfParent`', (kind, titleOfParent) => {
    expect(buildItem('hackernews', { ...PARTS, kind, title: 'A lamp' })).toMatchObject({ titleOfParent });
  });

  const huge = '"é'.repeat(300_000);
  const hugeItem = () =>
    buildItem('hackernews', {
      ...PARTS,
      itemId: `hn:${huge}`,
      url: `https://example.org/${huge}`,
      title: huge,
      text: huge,
      author: huge,
      authorName: huge,
      authorUrl: `https://example.org/${huge}`,
      community: huge,
      lang: huge,
      publishedAt: '+275760-01-01T00:00:00.000Z',
      previousPrice: NaN,
      media: Array.from({ length: 5000 }, () => ({
        url: 'https://example.org/a.png',
        type: 'image' as const,
      })),
      body: { id: huge, text: huge, html: huge, tags: Array.from({ length: 5000 }, () => huge), raw: NaN },
    });

  it('fits into a message even if every field from the upstream is huge', () => {
    const item = hugeItem();
    expect(toBinary(ItemSchema, item).length).toBeLessThan(320 * 1024);
    expect(item.truncated).toBe(true);
    expect(JSON.parse(item.bodyJson)).toMatchObject({ source: 'hackernews', url: null, truncated: true });
    // `encodeInto` of Node 26 can stop before the last character that fits.
    expect(Buffer.byteLength(item.title)).toBeGreaterThan(1020);
    expect(Buffer.byteLength(item.title)).toBeLessThanOrEqual(1024);
    expect(Buffer.byteLength(item.text)).toBeLessThanOrEqual(65_536);
    expect([item.url, item.authorUrl, item.publishedAt, item.previousPrice]).toEqual([
      '',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has a short derived id if the upstream sends a very long id', () => {
    const idOf = (itemId: string) => buildItem('hackernews', { ...PARTS, itemId }).itemId;
    const long = `hn:${'x'.repeat(600_000)}`;
    expect(idOf(long).length).toBeLessThan(512);
    expect(idOf(long)).toBe(idOf(long));
    expect(idOf(`${long}a`)).not.toBe(idOf(`${long}b`));
    expect(hugeItem().itemId.startsWith('hn:')).toBe(true);
  });

  it('does not report a cut if nothing was cut', () => {
    const item = buildItem('hackernews', { ...PARTS, title: 'x'.repeat(1024), text: 'y'.repeat(65_536) });
    expect(item.truncated).toBe(false);
    expect(JSON.parse(item.bodyJson)).not.toHaveProperty('truncated');
  });

  it('has an id without the character NUL, which Postgres does not accept', () => {
    expect(buildItem('hackernews', { ...PARTS, itemId: 'hn:\u00001' }).itemId).toBe('hn:1');
  });
});
