import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseTimeline } from './index.js';
import { status, statusId, statusUri } from './testing/fixtures.js';

describe('posts of Mastodon', () => {
  const origin = { host: 'light.example', now: SPEC_NOW };
  const one = (more: Record<string, unknown> = {}) =>
    parseTimeline([status(1, SPEC_NOW, more)], origin).items[0];
  const bodyOf = (more: Record<string, unknown> = {}) =>
    JSON.parse(one(more)?.bodyJson ?? '{}') as Record<string, unknown>;

  it('are converted to items', () => {
    expect(one()).toMatchObject({
      itemId: statusUri(1),
      eventType: 'mastodon_post.created',
      kind: 'post',
      url: 'https://lamps.example/@Ada/1',
      title: '',
      text: 'Lamp number 1',
      author: 'Ada@lamps.example',
      authorName: 'Ada B.',
      authorUrl: 'https://lamps.example/@Ada',
      lang: 'en',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3, replies: 1, shares: 6 },
      media: [],
    });
    expect(bodyOf()).toEqual({
      id: statusUri(1),
      source: 'mastodon',
      url: 'https://lamps.example/@Ada/1',
      author: 'Ada@lamps.example',
      publishedAt: '2026-03-04T12:00:00.000Z',
      instance: 'light.example',
      statusId: statusId(1, SPEC_NOW),
      kind: 'post',
      authorName: 'Ada B.',
      authorUrl: 'https://lamps.example/@Ada',
      authorFollowers: 12,
      bot: false,
      text: 'Lamp number 1',
      spoilerText: null,
      sensitive: false,
      visibility: 'public',
      lang: 'en',
      createdAt: '2026-03-04T12:00:00.000Z',
      editedAt: null,
      likes: 3,
      replies: 1,
      boosts: 2,
      quotes: 4,
      inReplyToId: null,
      attachments: [],
      card: null,
      poll: null,
      tags: [],
      mentions: [],
      quoted: null,
    });
  });

  it('contain whole addresses of links, and hashtags and mentions as text', () => {
    const content =
      '<p>See <a href="https://lamps.example/a/long/path"><span class="invisible">https://</span><span class="ellipsis">lamps.example/a/lo</span><span class="invisible">ng/path</span></a><br />' +
      '<a href="https://light.example/tags/lamps" class="mention hashtag">#<span>lamps</span></a> by ' +
      '<span class="h-card"><a href="https://light.example/@Grace" class="u-url mention">@<span>Grace</span></a></span> &amp; co</p>';
    expect(one({ content })?.text).toBe('See https://lamps.example/a/long/path\n#lamps by @Grace & co');
  });

  it('have the name of the instance after the author if their author belongs to that instance', () => {
    const account = { acct: 'Grace', display_name: '', bot: true };
    expect(one({ account })).toMatchObject({ author: 'Grace@light.example' });
    expect(bodyOf({ account })).toMatchObject({ bot: true, authorName: null, authorUrl: null });
  });

  it('have their id as the address if they have no address', () => {
    expect(one({ url: null })?.url).toBe(statusUri(1));
  });

  it('are read as the boosted post if they are boosts', () => {
    const inner = status(2, new Date('2026-03-04T11:00:00Z'));
    const boost = status(9, SPEC_NOW, { content: '', reblog: inner });
    const { items } = parseTimeline([boost, inner], origin);
    expect(items.map(({ itemId, text }) => [itemId, text])).toEqual([[statusUri(2), 'Lamp number 2']]);
  });

  it('are read even if they have only pictures', () => {
    const media_attachments = [
      { type: 'image', url: 'https://files.example/1.png', description: 'A lamp' },
      { type: 'gifv', url: null, remote_url: 'https://files.example/2.mp4', description: null },
      { type: 'audio', url: 'https://files.example/3.mp3' },
      { type: 'unknown', url: 'https://files.example/4' },
      { type: 'image', url: null, remote_url: null },
    ];
    expect(one({ content: '', media_attachments })).toMatchObject({
      text: '',
      media: [
        { type: 'image', url: 'https://files.example/1.png' },
        { type: 'video', url: 'https://files.example/2.mp4' },
        { type: 'audio', url: 'https://files.example/3.mp3' },
        { type: 'link', url: 'https://files.example/4' },
      ],
    });
    expect(bodyOf({ media_attachments })['attachments']).toEqual([
      { url: 'https://files.example/1.png', type: 'image', description: 'A lamp' },
      { url: 'https://files.example/2.mp4', type: 'gifv', description: '' },
      { url: 'https://files.example/3.mp3', type: 'audio', description: '' },
      { url: 'https://files.example/4', type: 'unknown', description: '' },
    ]);
  });

  it('have the content warning before the text and the options of a poll after it', () => {
    const poll = {
      options: [{ title: 'Desk lamp', votes_count: 3 }, { title: 'Floor lamp', votes_count: null }, {}],
      multiple: true,
      expires_at: '2026-03-05T12:00:00.000Z',
    };
    const more = { spoiler_text: 'About light', sensitive: true, poll };
    expect(one(more)?.text).toBe('About light\n\nLamp number 1\n\n* Desk lamp\n* Floor lamp');
    expect(bodyOf(more)).toMatchObject({
      text: 'Lamp number 1',
      spoilerText: 'About light',
      sensitive: true,
      poll: {
        options: [
          { title: 'Desk lamp', votes: 3 },
          { title: 'Floor lamp', votes: null },
        ],
        multiple: true,
        expiresAt: '2026-03-05T12:00:00.000Z',
      },
    });
  });

  it('contain the card, the time of the last edit, the tags, the mentions, and the posts that they answer and quote', () => {
    const card = { url: 'https://lamps.example/', title: 'Lamps', description: 'All of them', type: 'link' };
    const more = {
      card,
      edited_at: '2026-03-04T12:05:00.000Z',
      in_reply_to_id: '5',
      language: null,
      tags: [{ name: 'lamps', url: 'https://light.example/tags/lamps' }],
      mentions: [{ acct: 'Grace@light.example' }],
      quote: { state: 'accepted', quoted_status: { uri: statusUri(8) } },
    };
    expect(one(more)?.lang).toBeUndefined();
    expect(one(more)).toMatchObject({
      kind: 'reply',
      media: [{ type: 'link', url: 'https://lamps.example/' }],
    });
    expect(bodyOf(more)).toMatchObject({
      card,
      editedAt: '2026-03-04T12:05:00.000Z',
      inReplyToId: '5',
      tags: ['lamps'],
      mentions: ['Grace@light.example'],
      quoted: statusUri(8),
    });
  });

  it('keep their id and their date if they are edited', () => {
    const edited = one({ content: '<p>Other words</p>', edited_at: '2026-03-04T13:00:00.000Z' });
    expect([edited?.itemId, edited?.publishedAt]).toEqual([statusUri(1), '2026-03-04T12:00:00.000Z']);
  });

  it.each([
    ['an old date', '2026-03-01T00:00:00.000Z', undefined, '2026-03-01T00:00:00.000Z'],
    ['a clock that is fast', '2026-03-04T12:05:00.000Z', undefined, '2026-03-04T12:00:00.000Z'],
    ['a date in the future', '2026-03-04T12:05:00.001Z', undefined, undefined],
    [
      'a date and an id in the future',
      '2031-01-01T00:00:00.000Z',
      statusId(1, new Date('2031-01-01')),
      undefined,
    ],
    ['a date in the future and no id', '2031-01-01T00:00:00.000Z', 'AbCdEf', undefined],
    ['an id of other software', '2026-03-01T00:00:00.000Z', 'AbCdEf', '2026-03-01T00:00:00.000Z'],
  ])('have no publication time that is after their arrival: %s', (_, created_at, id, publishedAt) => {
    expect(one({ created_at, ...(id && { id }) })?.publishedAt).toBe(publishedAt);
  });

  it('are left out and counted if they are not public or cannot be read, while the other posts are kept', () => {
    const { items, warnings } = parseTimeline(
      [
        status(1, SPEC_NOW),
        status(2, SPEC_NOW, { visibility: 'direct' }),
        status(3, SPEC_NOW, { visibility: 'unlisted' }),
        { id: '4' },
        status(5, SPEC_NOW, { created_at: 'soon' }),
      ],
      origin,
    );
    expect(items.map(({ itemId }) => itemId)).toEqual([1, 3].map(statusUri));
    expect(warnings).toEqual([
      'mastodon: 1 of 5 items left out: not public',
      'mastodon: 1 of 5 items could not be read: no uri',
      'mastodon: 1 of 5 items could not be read: no created_at',
    ]);
  });
});
