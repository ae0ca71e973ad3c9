import { SPEC_NOW } from '../testing/fake-upstream.js';
import { parseSearchAnswer } from './index.js';
import { answerOf, tweetId, tweetRecord } from './testing/fixtures.js';
import { bodyOf, one } from './testing/tweet.js';

const URL_1 = `https://x.com/Ada_Lamps/status/${tweetId(1)}`;
const AUTHOR = {
  id: '71001',
  username: 'Ada_Lamps',
  displayName: 'Ada & B.',
  profileImageUrl: 'https://pbs.example/ada.jpg',
  verified: true,
  isBlueVerified: true,
};

describe('tweets of X', () => {
  it('are converted to items', () => {
    expect(one()).toMatchObject({
      itemId: tweetId(1),
      eventType: 'tweet.created',
      kind: 'post',
      url: URL_1,
      title: '',
      text: 'Lamp number 1',
      author: 'Ada_Lamps',
      authorName: 'Ada & B.',
      authorUrl: 'https://x.com/Ada_Lamps',
      lang: 'en',
      publishedAt: '2026-03-04T12:00:00.000Z',
      engagement: { likes: 3, replies: 2, shares: 5, views: 600 },
      media: [],
    });
    expect(bodyOf()).toEqual({
      id: tweetId(1),
      source: 'x',
      url: URL_1,
      author: 'Ada_Lamps',
      publishedAt: '2026-03-04T12:00:00.000Z',
      text: 'Lamp number 1',
      createdAt: '2026-03-04T12:00:00.000Z',
      lang: 'en',
      metrics: { likes: 3, replies: 2, retweets: 1, quotes: 4, views: 600, bookmarks: 5 },
      media: [],
      entities: { urls: [], mentions: [], hashtags: [], cashtags: [] },
      quotedTweet: null,
      retweetedTweet: null,
      inReplyToTweetId: null,
      inReplyToUserId: null,
      inReplyToUsername: null,
      conversationId: tweetId(1),
      displayTextRange: null,
      possiblySensitive: false,
      poll: null,
      card: null,
      communityNote: null,
      editControl: null,
      kind: 'post',
      authorId: '71001',
      authorProfile: AUTHOR,
      authorFollowers: 12,
      clientName: null,
    });
  });

  it('contain the name of the client with which they were written', () => {
    expect(bodyOf({ source: 'Lamp Writer for iOS' })).toMatchObject({
      source: 'x',
      clientName: 'Lamp Writer for iOS',
    });
  });

  it('contain null for each field that X does not send, and have no counts', () => {
    const { public_metrics: _, lang: __, possibly_sensitive: ___, ...little } = tweetRecord(1, SPEC_NOW);
    const item = parseSearchAnswer(answerOf([little], { includes: undefined })).items[0];
    expect(item?.url).toBe(`https://x.com/i/status/${tweetId(1)}`);
    const absent = [item?.author, item?.authorUrl, item?.engagement, item?.lang];
    expect(absent.filter((value) => value !== undefined)).toEqual([]);
    expect(JSON.parse(item?.bodyJson ?? '{}')).toMatchObject({
      author: null,
      authorId: '71001',
      authorProfile: { id: '71001', username: null, verified: null, isBlueVerified: null },
      authorFollowers: null,
      metrics: { likes: null, replies: null, retweets: null, quotes: null, views: null, bookmarks: null },
      possiblySensitive: null,
      lang: null,
    });
  });

  it('have no views and no bookmarks in old responses', () => {
    const public_metrics = { retweet_count: 1, reply_count: 0, like_count: 0, quote_count: 0 };
    expect(bodyOf({ public_metrics })).toMatchObject({
      metrics: { likes: 0, replies: 0, retweets: 1, quotes: 0, views: null, bookmarks: null },
    });
  });

  it.each(['und', 'zxx', 'qme', 'qst'])('have no language if their language code is "%s"', (lang) => {
    expect(one({ lang })?.lang).toBeUndefined();
    expect(bodyOf({ lang })['lang']).toBe(lang);
  });

  it('are unescaped, and have whole addresses in the text of the item, but short addresses in its body', () => {
    const text =
      '💡 &lt;Lamps&gt; &amp; light https://t.co/aaaaaaaaa1 https://t.co/bbbbbbbbb2 https://t.co/aaaaaaaaa12';
    const urls = [
      {
        start: 27,
        end: 50,
        url: 'https://t.co/aaaaaaaaa1',
        expanded_url: 'https://lamps.example/a?b=1&c=2',
        display_url: 'lamps.example/a…',
      },
      { start: 51, end: 74, url: 'https://t.co/bbbbbbbbb2' },
    ];
    expect(one({ text, entities: { urls } })?.text).toBe(
      '💡 <Lamps> & light https://lamps.example/a?b=1&c=2 https://t.co/bbbbbbbbb2 https://t.co/aaaaaaaaa12',
    );
    expect(bodyOf({ text, entities: { urls } })).toMatchObject({
      text: '💡 <Lamps> & light https://t.co/aaaaaaaaa1 https://t.co/bbbbbbbbb2 https://t.co/aaaaaaaaa12',
    });
  });

  it('contain their entities with offsets in the unescaped text, in code points', () => {
    const text = '💡 &lt;3 @GraceH #lamp $LED https://t.co/aaaaaaaaa1';
    const entities = {
      mentions: [{ start: 8, end: 15, username: 'GraceH', id: '71002' }],
      hashtags: [{ start: 16, end: 21, tag: 'lamp' }],
      cashtags: [{ start: 22, end: 26, tag: 'LED' }],
      urls: [{ start: 27, end: 50, url: 'https://t.co/aaaaaaaaa1', expanded_url: 'https://lamps.example/a' }],
      annotations: [{ start: 1, end: 2, type: 'Product' }],
    };
    const body = bodyOf({ text, entities, display_text_range: [2, 50] });
    expect(body).toMatchObject({ displayTextRange: [2, 47] });
    expect(body['entities']).toEqual({
      urls: [
        {
          url: 'https://t.co/aaaaaaaaa1',
          expandedUrl: 'https://lamps.example/a',
          displayUrl: null,
          start: 24,
          end: 47,
        },
      ],
      mentions: [{ id: '71002', username: 'GraceH', name: 'Grace', start: 5, end: 12 }],
      hashtags: [{ text: 'lamp', start: 13, end: 18 }],
      cashtags: [{ text: 'LED', start: 19, end: 23 }],
    });
    expect([...String(body['text'])].slice(5, 12).join('')).toBe('@GraceH');
  });

  it('are read in one pass if a long text has many escapes and hashtags', () => {
    const text = `${'&amp;'.repeat(10_000)} ${'#lamp '.repeat(500)}`;
    const hashtags = Array.from({ length: 500 }, (_, n) => ({
      tag: 'lamp',
      start: 50_001 + 6 * n,
      end: 50_006 + 6 * n,
    }));
    const body = bodyOf({ note_tweet: { text, entities: { hashtags } } });
    expect(body['entities']).toMatchObject({
      hashtags: expect.arrayContaining([{ text: 'lamp', start: 10_001, end: 10_006 }]) as unknown,
    });
  });

  it('contain the whole text and its entities, even if the text is long', () => {
    const note_tweet = {
      text: `${'A long text. '.repeat(30)}&amp; https://t.co/bbbbbbbbb2`,
      entities: {
        urls: [
          { start: 396, end: 419, url: 'https://t.co/bbbbbbbbb2', expanded_url: 'https://lamps.example/b' },
        ],
      },
    };
    const more = {
      text: 'A long text. A lon… https://t.co/aaaaaaaaa1',
      note_tweet,
      display_text_range: [0, 278],
    };
    expect(one(more)?.text.endsWith('A long text. & https://lamps.example/b')).toBe(true);
    expect(bodyOf(more)).toMatchObject({
      entities: { urls: [{ url: 'https://t.co/bbbbbbbbb2', start: 392, end: 415 }] },
      displayTextRange: null,
    });
  });

  it('contain the author of the tweet to which they reply', () => {
    const more = {
      in_reply_to_user_id: '71002',
      referenced_tweets: [{ type: 'replied_to', id: tweetId(8) }],
    };
    expect(one(more)?.kind).toBe('reply');
    expect(bodyOf(more)).toMatchObject({
      inReplyToTweetId: tweetId(8),
      inReplyToUserId: '71002',
      inReplyToUsername: 'GraceH',
    });
  });

  it('contain the tweet that they quote, with its author and client, or null if the quoted tweet is gone', () => {
    const more = { referenced_tweets: [{ type: 'quoted', id: tweetId(8) }] };
    const quoted = tweetRecord(8, SPEC_NOW, { author_id: '71002', source: 'Lamp Writer', text: 'A &amp; B' });
    expect(one(more, { tweets: [quoted] })?.kind).toBe('quote');
    expect(bodyOf(more, { tweets: [quoted] })['quotedTweet']).toMatchObject({
      id: tweetId(8),
      text: 'A & B',
      source: 'Lamp Writer',
      url: `https://x.com/GraceH/status/${tweetId(8)}`,
      author: { id: '71002', username: 'GraceH', isBlueVerified: false },
    });
    expect(bodyOf(more)['quotedTweet']).toBeNull();
  });

  it('are read to a limited depth if they quote each other', () => {
    const quoting = (n: number, other: number) =>
      tweetRecord(n, SPEC_NOW, { referenced_tweets: [{ type: 'quoted', id: tweetId(other) }] });
    const more = { referenced_tweets: [{ type: 'quoted', id: tweetId(2) }] };
    expect(bodyOf(more, { tweets: [quoting(1, 2), quoting(2, 1)] })).toMatchObject({
      quotedTweet: { id: tweetId(2), quotedTweet: { id: tweetId(1), quotedTweet: null } },
    });
  });

  it('keep the item id of their first version if they were edited', () => {
    const edit_history_tweet_ids = [tweetId(9), tweetId(5), tweetId(1)];
    const edit_controls = {
      edits_remaining: '3',
      is_edit_eligible: true,
      editable_until: '2026-03-04T12:30:00.000Z',
    };
    const item = one({ edit_history_tweet_ids, edit_controls });
    expect(item?.itemId).toBe(tweetId(9));
    expect(JSON.parse(item?.bodyJson ?? '{}')).toMatchObject({
      id: tweetId(1),
      editControl: {
        editTweetIds: edit_history_tweet_ids,
        editableUntilMs: Date.parse('2026-03-04T12:30:00.000Z'),
        editsRemaining: 3,
        isEditEligible: true,
      },
    });
    expect(bodyOf({ edit_controls: { edits_remaining: 5 } })).toMatchObject({
      editControl: { editsRemaining: 5, editableUntilMs: null, isEditEligible: null },
    });
  });

  it('are counted and left out if they are retweets or cannot be read', () => {
    const retweet = tweetRecord(2, SPEC_NOW, { referenced_tweets: [{ type: 'retweeted', id: tweetId(9) }] });
    const { items, warnings } = parseSearchAnswer(
      answerOf([tweetRecord(1, SPEC_NOW), retweet, { id: '7' }, null, tweetRecord(1, SPEC_NOW)]),
    );
    expect(items.map(({ itemId }) => itemId)).toEqual([tweetId(1)]);
    expect(warnings).toEqual([
      'x: 1 of 5 items left out: retweets',
      'x: 1 of 5 items could not be read: no text',
      'x: 1 of 5 items could not be read: no id',
    ]);
  });
});
