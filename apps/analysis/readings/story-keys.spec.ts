import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ItemSchema } from '#contracts';
import fc from 'fast-check';
import { canonicalUrl, storyKeys } from './story-keys.js';

const item = (more: MessageInitShape<typeof ItemSchema>) =>
  create(ItemSchema, { source: 'reddit', kind: 'post', ...more });
const link = (url: string) => ({ media: [{ url, type: 'link' }] });
const TEXT =
  'Acme closes its office in Berlin and moves all of its people to Lisbon before the end of the year';

function share(a: MessageInitShape<typeof ItemSchema>, b: MessageInitShape<typeof ItemSchema>): boolean {
  const keys = new Set(storyKeys(item(a)));
  return storyKeys(item(b)).some((key) => keys.has(key));
}

describe('the story of an item', () => {
  it.each([
    ['https://www.example.org/a/?utm_source=x&b=2&a=1#top', 'http://example.org/a?a=1&b=2'],
    ['https://m.example.org/a?fbclid=123', 'https://example.org/a/'],
    ['https://amp.example.org/a', 'https://example.org/a'],
  ])('is the same for %s and %s', (a, b) => {
    expect(canonicalUrl(a)).toBe(canonicalUrl(b));
    expect(share(link(a), link(b))).toBe(true);
  });

  it('differs for different pages of a site', () => {
    expect(share(link('https://example.org/a?id=1'), link('https://example.org/a?id=2'))).toBe(false);
  });

  it('is not recognised from a link to a home page or from an invalid address', () => {
    expect(storyKeys(item(link('https://example.org/')))).toEqual([]);
    expect(storyKeys(item(link('http://[')))).toEqual([]);
  });

  it('is the same for an article and a post that links to it', () => {
    const article = { source: 'rss', kind: 'article', url: 'https://example.org/news/1' };
    expect(share(article, link('https://example.org/news/1?utm_campaign=feed'))).toBe(true);
  });

  it('is the same for texts that differ in case, handles, hashtags and links', () => {
    expect(share({ text: TEXT }, { text: `@ada ${TEXT.toUpperCase()} #acme https://example.org/9` })).toBe(
      true,
    );
  });

  it('is the same for a title and a post that repeats the title', () => {
    expect(share({ title: TEXT }, { text: TEXT })).toBe(true);
  });

  it('differs for other texts about the same subject', () => {
    expect(
      share(
        { text: TEXT },
        { text: 'Acme opens a new office in Paris and hires two hundred people this spring' },
      ),
    ).toBe(false);
  });

  it('is not recognised from short texts, comments and answers of AI engines', () => {
    expect(storyKeys(item({ text: 'I love acme so much'.slice(0, 11) }))).toEqual([]);
    expect(storyKeys(item({ kind: 'comment', text: TEXT }))).toEqual([]);
    expect(storyKeys(item({ source: 'ai_answers', text: TEXT }))).toEqual([]);
  });

  it('has at most 28 keys for generated texts', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 2000, unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (text, title) => {
          const keys = storyKeys(
            item({
              text,
              title,
              media: Array.from({ length: 16 }, (_, n) => ({ url: `${title}${n}`, type: 'link' })),
            }),
          );
          expect(keys.length).toBeLessThanOrEqual(28);
        },
      ),
    );
  });
});
