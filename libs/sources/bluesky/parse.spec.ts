import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseSearchAnswer } from './index.js';
import { postUri, postView } from './testing/fixtures.js';

describe('posts of Bluesky', () => {
  const one = (...more: Parameters<typeof postView> extends [number, Date, ...infer M] ? M : never) =>
    parseSearchAnswer({ posts: [postView(1, SPEC_NOW, ...more)] }).items[0];
  const bodyOf = (...more: Parameters<typeof one>) =>
    JSON.parse(one(...more)?.bodyJson ?? '{}') as Record<string, unknown>;

  it('are converted to items', () => {
    expect(one()).toMatchObject({
      itemId: postUri(1),
      eventType: 'bluesky_post.created',
      kind: 'post',
      url: 'https://bsky.app/profile/Ada.lamps.example/post/3l1',
      title: '',
      text: 'Lamp number 1',
      author: 'Ada.lamps.example',
      authorName: 'Ada B.',
      lang: 'en-GB',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3, replies: 1, shares: 6 },
    });
    expect(bodyOf()).toEqual({
      id: postUri(1),
      source: 'bluesky',
      url: 'https://bsky.app/profile/Ada.lamps.example/post/3l1',
      author: 'Ada.lamps.example',
      publishedAt: '2026-03-04T12:00:00.000Z',
      cid: 'bafyrei1',
      kind: 'post',
      authorDid: 'did:plc:ada000000000000000000000',
      authorName: 'Ada B.',
      text: 'Lamp number 1',
      langs: ['en-GB'],
      likes: 3,
      replies: 1,
      reposts: 2,
      quotes: 4,
      replyTo: null,
      replyRoot: null,
      links: [],
      images: [],
      link: null,
      video: null,
      quoted: null,
      labels: [],
    });
  });

  it('contain whole addresses instead of shortened links, whose positions Bluesky counts in bytes', () => {
    const text = '💡 Große Lampe: lamps.example/re... und hier';
    const at = (shown: string) => {
      const byteStart = Buffer.from(text.slice(0, text.indexOf(shown))).length;
      return { byteStart, byteEnd: byteStart + Buffer.from(shown).length };
    };
    const link = (uri: string) => [{ $type: 'app.bsky.richtext.facet#link', uri }];
    const facets = [
      { index: at('hier'), features: link('https://other.example/') },
      { index: at('lamps.example/re...'), features: link('https://lamps.example/reviews') },
      { index: at('Lampe'), features: [{ $type: 'app.bsky.richtext.facet#tag', tag: 'Lampe' }] },
      { index: { byteStart: 900, byteEnd: 950 }, features: link('https://nowhere.example/') },
      { index: { byteStart: 'x' }, features: link('https://nowhere.example/') },
    ];
    expect(one({ record: { text, facets } })?.text).toBe(
      '💡 Große Lampe: https://lamps.example/reviews und hier (https://other.example/)',
    );
  });

  it.each([
    [{ createdAt: '2026-03-04T11:59:00+01:00' }, {}, '2026-03-04T10:59:00.000Z'],
    [{ createdAt: '2031-01-01T00:00:00Z' }, {}, '2026-03-04T12:00:00.000Z'],
    [{ createdAt: 'soon' }, {}, '2026-03-04T12:00:00.000Z'],
    [{}, { indexedAt: undefined }, '2026-03-04T12:00:00.000Z'],
  ])(
    'have the earlier time of client and server, or the only valid time (record %j, post %j)',
    (record, more, publishedAt) => {
      expect(one({ record, ...more })?.publishedAt).toBe(publishedAt);
    },
  );

  it('have an address with the id of the account if the handle of the account is invalid', () => {
    const post = one({ author: { did: 'did:plc:ada000000000000000000000', handle: 'handle.invalid' } });
    expect([post?.author, post?.url]).toEqual([
      'did:plc:ada000000000000000000000',
      'https://bsky.app/profile/did:plc:ada000000000000000000000/post/3l1',
    ]);
  });

  it('are replies if they answer another post', () => {
    const reply = { parent: { uri: postUri(8), cid: 'c' }, root: { uri: postUri(9), cid: 'c' } };
    expect(one({ record: { reply } })?.kind).toBe('reply');
    expect(bodyOf({ record: { reply } })).toMatchObject({ replyTo: postUri(8), replyRoot: postUri(9) });
  });

  const images = {
    $type: 'app.bsky.embed.images#view',
    images: [{ fullsize: 'https://cdn.example/1', thumb: 'https://cdn.example/t1', alt: 'A lamp' }],
  };
  it.each([
    [
      'images',
      images,
      [['image', 'https://cdn.example/1']],
      { images: [{ url: 'https://cdn.example/1', alt: 'A lamp' }] },
    ],
    [
      'a link card',
      {
        $type: 'app.bsky.embed.external#view',
        external: { uri: 'https://l.example', title: 'Lamps', description: '' },
      },
      [['link', 'https://l.example']],
      { link: { url: 'https://l.example', title: 'Lamps', description: '' } },
    ],
    [
      'a video',
      { $type: 'app.bsky.embed.video#view', playlist: 'https://v.example/p.m3u8', alt: 'On and off' },
      [['video', 'https://v.example/p.m3u8']],
      { video: { url: 'https://v.example/p.m3u8', alt: 'On and off' } },
    ],
    [
      'a quoted post',
      { $type: 'app.bsky.embed.record#view', record: { uri: postUri(5) } },
      [],
      { quoted: postUri(5) },
    ],
    [
      'a quoted post and images',
      {
        $type: 'app.bsky.embed.recordWithMedia#view',
        record: { record: { uri: postUri(5) } },
        media: images,
      },
      [['image', 'https://cdn.example/1']],
      { quoted: postUri(5), images: [{ url: 'https://cdn.example/1', alt: 'A lamp' }] },
    ],
    ['something unknown', { $type: 'app.bsky.embed.hologram#view' }, [], { images: [], link: null }],
  ])('are read with their embedded content: %s', (_, embed, media, body) => {
    expect(one({ embed })?.media.map(({ type, url }) => [type, url])).toEqual(media);
    expect(bodyOf({ embed })).toMatchObject(body);
  });

  it('are left out and counted if they cannot be read, while the other items are kept, each once', () => {
    const { items, warnings } = parseSearchAnswer({
      posts: [
        postView(1, SPEC_NOW),
        { uri: 'at://x' },
        postView(2, SPEC_NOW, { record: { text: 7 } }),
        postView(1, SPEC_NOW),
      ],
    });
    expect(items.map((item) => item.itemId)).toEqual([postUri(1)]);
    expect(warnings).toEqual([
      'bluesky: 1 of 4 items could not be read: no uri of a post',
      'bluesky: 1 of 4 items could not be read: no record with a text',
    ]);
  });
});
