import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseListing } from './index.js';
import { commentThing, listing, postThing } from './testing/fixtures.js';

describe('posts and comments of reddit:', () => {
  const one = (thing: object) => parseListing(listing([thing])).items[0];
  const bodyOf = (thing: object) => JSON.parse(one(thing)?.bodyJson ?? '{}') as Record<string, unknown>;

  it('a post is converted to an item', () => {
    expect(one(postThing(1, SPEC_NOW))).toMatchObject({
      itemId: 't3_lflr',
      eventType: 'post.created',
      kind: 'post',
      url: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      title: 'A lamp, number 1',
      text: 'Lamp number 1 is bright.',
      author: 'Ada_Byron',
      community: 'lamps',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { score: 17, replies: 4 },
      media: [],
    });
    expect(bodyOf(postThing(1, SPEC_NOW))).toEqual({
      id: 'lflr',
      name: 't3_lflr',
      source: 'reddit',
      kind: 'post',
      url: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      permalink: 'https://www.reddit.com/r/lamps/comments/lflr/a_lamp/',
      author: 'Ada_Byron',
      publishedAt: '2026-03-04T12:00:00.000Z',
      title: 'A lamp, number 1',
      selftext: 'Lamp **number 1** is _bright_.',
      subreddit: 'lamps',
      link: null,
      score: 17,
      numComments: 4,
      flair: null,
      over18: false,
      crosspostOf: null,
      parentId: null,
      postId: 't3_lflr',
    });
  });

  it('a comment has the same keys as a post, the title of its post, and t1_ before its id', () => {
    const thing = commentThing(1, SPEC_NOW);
    expect(one(thing)).toMatchObject({
      itemId: 't1_lflr',
      eventType: 'reddit_comment.created',
      kind: 'comment',
      title: 'A lamp, number 1',
      text: 'I like this one (https://lamps.example/7).',
      url: 'https://www.reddit.com/r/lamps/comments/100/a_lamp/lflr/',
    });
    expect(Object.keys(bodyOf(thing)).sort()).toEqual(Object.keys(bodyOf(postThing(1, SPEC_NOW))).sort());
    expect(bodyOf(thing)).toMatchObject({
      id: 't1_lflr',
      kind: 'comment',
      selftext: 'I like [this one](https://lamps.example/7).',
      parentId: 't1_9',
      postId: 't3_100',
    });
  });

  it('an old comment without a permalink gets one', () => {
    expect(one(commentThing(1, SPEC_NOW, { permalink: undefined }))?.url).toBe(
      'https://www.reddit.com/r/lamps/comments/100/_/lflr/',
    );
  });

  it('the text comes from the Markdown if the response has no HTML', () => {
    expect(one(postThing(1, SPEC_NOW, { selftext: '&#x200B;\n\nOn.', selftext_html: null }))?.text).toBe(
      'On.',
    );
  });

  it('escaped HTML, which reddit sends without raw_json, becomes text', () => {
    const html = '&lt;div class="md"&gt;&lt;p&gt;A &amp;amp; B&lt;/p&gt;&lt;/div&gt;';
    expect(one(postThing(1, SPEC_NOW, { selftext_html: html }))?.text).toBe('A & B');
  });

  it.each([
    [
      'a link',
      { is_self: false, url: 'https://lamps.example/a' },
      [{ type: 'link', url: 'https://lamps.example/a' }],
    ],
    [
      'an image',
      { is_self: false, url: 'https://i.redd.it/a.jpg' },
      [{ type: 'image', url: 'https://i.redd.it/a.jpg' }],
    ],
    [
      'a video',
      {
        is_self: false,
        url: 'https://v.redd.it/a',
        media: { reddit_video: { fallback_url: 'https://v.redd.it/a/D.mp4' } },
      },
      [{ type: 'video', url: 'https://v.redd.it/a/D.mp4' }],
    ],
    [
      'a gallery, in its order',
      {
        is_self: false,
        url: 'https://www.reddit.com/gallery/a',
        gallery_data: { items: [{ media_id: 'm2' }, { media_id: 'm1' }, { media_id: 'm3' }] },
        media_metadata: {
          m1: { s: { u: 'https://i.redd.it/1' } },
          m2: { s: { gif: 'https://i.redd.it/2' } },
          m3: {},
        },
      },
      [
        { type: 'image', url: 'https://i.redd.it/2' },
        { type: 'image', url: 'https://i.redd.it/1' },
      ],
    ],
  ])('the media of a post with %s are read', (_, more, media) => {
    expect(one(postThing(1, SPEC_NOW, more))?.media).toMatchObject(media);
  });

  it('a crosspost contains the id of the shared post, and becomes only one item', () => {
    const original = postThing(2, SPEC_NOW).data;
    const thing = postThing(1, SPEC_NOW, { crosspost_parent: 't3_lflq', crosspost_parent_list: [original] });
    expect(parseListing(listing([thing])).items.length).toBe(1);
    expect(bodyOf(thing)['crosspostOf']).toBe('t3_lflq');
  });

  it('a post of a deleted account has no author', () => {
    expect(one(postThing(1, SPEC_NOW, { author: '[deleted]' }))?.author).toBeUndefined();
  });

  it('deleted and removed posts, stubs and invalid entries are left out and counted', () => {
    const { items, warnings } = parseListing(
      listing([
        postThing(1, SPEC_NOW),
        postThing(2, SPEC_NOW, { removed_by_category: 'moderator' }),
        postThing(3, SPEC_NOW, { selftext: '[removed]' }),
        commentThing(4, SPEC_NOW, { author: '[deleted]', body: '[deleted]' }),
        { kind: 'more', data: { count: 12, children: ['a', 'b'] } },
        postThing(5, SPEC_NOW, { created_utc: 'yesterday' }),
        null,
      ]),
    );
    expect(items.map((item) => item.itemId)).toEqual(['t3_lflr']);
    expect(warnings).toEqual([
      'reddit: 3 of 7 items left out: deleted or removed',
      'reddit: 1 of 7 items left out: a stub of more comments, without text',
      'reddit: 1 of 7 items could not be read: no created_utc',
      'reddit: 1 of 7 items could not be read: no data',
    ]);
  });
});
