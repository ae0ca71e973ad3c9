import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parsePosts } from './index.js';
import { post, posts } from './testing/fixtures.js';

const page = (...nodes: unknown[]) => parsePosts((posts(nodes) as { data: object }).data);

describe('posts of Product Hunt', () => {
  const one = (more: Record<string, unknown> = {}) => page(post(1, SPEC_NOW, more)).items[0];
  const bodyOf = (more: Record<string, unknown> = {}) =>
    JSON.parse(one(more)?.bodyJson ?? '{}') as Record<string, unknown>;

  it('are converted to items, with addresses without tracking parameters', () => {
    expect(one()).toMatchObject({
      itemId: 'producthunt:1199999',
      eventType: 'producthunt_post.created',
      kind: 'post',
      url: 'https://www.producthunt.com/products/lamp-1',
      title: 'Lamp 1',
      text: 'Light for everyone\n\nA lamp that shines.',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 31, replies: 4 },
      media: [{ type: 'image', url: 'https://files.example/t.png' }],
    });
    expect(bodyOf()).toEqual({
      id: '1199999',
      source: 'producthunt',
      url: 'https://www.producthunt.com/products/lamp-1',
      author: null,
      publishedAt: '2026-03-04T12:00:00.000Z',
      kind: 'post',
      slug: 'lamp-1',
      title: 'Lamp 1',
      tagline: 'Light for everyone',
      description: 'A lamp that shines.',
      website: 'https://www.producthunt.com/r/1',
      votes: 31,
      comments: 4,
      reviewsRating: 4.92,
      featuredAt: null,
      topics: ['Home'],
      topicSlugs: ['home'],
      thumbnail: 'https://files.example/t.png',
      media: [{ type: 'image', url: 'https://files.example/t.png' }],
      authorName: null,
      authorUrl: null,
    });
  });

  it.each([
    [{ id: '0', name: '[REDACTED]', username: '[REDACTED]', url: '[REDACTED]' }],
    [{ id: '[REDACTED]', name: 'Ada' }],
    [{ name: 'Ada' }],
    [null],
  ])('have no author if the person is hidden: %j', (user) => {
    const item = one({ user });
    expect([item?.author, item?.authorName, item?.authorUrl]).toEqual([undefined, undefined, undefined]);
  });

  it('have an author if the account of the token wrote them', () => {
    const user = {
      id: '7',
      name: 'Ada B.',
      username: 'ada',
      url: 'https://www.producthunt.com/@ada?utm_source=us',
    };
    expect(one({ user })).toMatchObject({
      author: 'ada',
      authorName: 'Ada B.',
      authorUrl: 'https://www.producthunt.com/@ada',
    });
  });

  it('have the time of their creation, and contain the time at which they were featured', () => {
    const featuredAt = '2026-03-04T15:01:00-08:00';
    expect(one({ featuredAt })?.publishedAt).toBe('2026-03-04T12:00:00.000Z');
    expect(bodyOf({ featuredAt })['featuredAt']).toBe('2026-03-04T23:01:00.000Z');
  });

  it('are identified by their number, even if their page moves', () => {
    const moved = one({
      url: 'https://www.producthunt.com/posts/other?ref=home',
      slug: 'other',
      name: 'Other',
    });
    expect([moved?.itemId, moved?.url]).toEqual([
      'producthunt:1199999',
      'https://www.producthunt.com/posts/other?ref=home',
    ]);
    expect(one({ url: null })?.url).toBe('https://www.producthunt.com/posts/lamp-1');
  });

  it('contain their pictures and videos', () => {
    const media = [
      { type: 'video', url: 'https://files.example/v.png', videoUrl: 'https://video.example/1' },
      { type: 'image', url: 'https://files.example/1.png', videoUrl: null },
      {},
    ];
    expect(one({ media })?.media).toMatchObject([
      { type: 'video', url: 'https://video.example/1' },
      { type: 'image', url: 'https://files.example/1.png' },
    ]);
  });

  it('can have no tagline and no description', () => {
    expect(one({ tagline: null, description: null })?.text).toBe('');
  });

  it('are left out and counted if they cannot be read, while the other items are kept', () => {
    const { items, warnings } = page(
      post(1, SPEC_NOW),
      null,
      post(2, SPEC_NOW, { name: ' ' }),
      post(3, SPEC_NOW, { createdAt: null }),
      post(4, SPEC_NOW, { url: null, slug: null }),
    );
    expect(items.length).toBe(1);
    expect(warnings).toEqual([
      'producthunt: 1 of 5 items could not be read: no id',
      'producthunt: 1 of 5 items could not be read: no name',
      'producthunt: 1 of 5 items could not be read: no createdAt',
      'producthunt: 1 of 5 items could not be read: no url',
    ]);
  });
});
