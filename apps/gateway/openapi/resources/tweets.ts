import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  listOf,
  NULL,
  nullable,
  NUMBER,
  object,
  oneOf,
  ref,
  TEXT,
  type Schema,
} from '../schema.js';

const text = nullable(TEXT);
const count = nullable(INTEGER);
const truth = nullable(BOOLEAN);
const media = object({
  url: text,
  previewUrl: text,
  width: count,
  height: count,
  durationMs: count,
  variants: listOf(object({ url: TEXT, contentType: text, bitrate: nullable(NUMBER) })),
});
const entities = object({
  urls: listOf(object({ url: TEXT, expandedUrl: text, displayUrl: text })),
  mentions: listOf(object({ id: text, username: text, name: text })),
  hashtags: listOf(object({ text: TEXT })),
  cashtags: listOf(object({ text: TEXT })),
});

export const tweetSchemas: Readonly<Record<string, Schema>> = {
  Tweet: object({
    id: TEXT,
    text: TEXT,
    createdAt: nullable(INSTANT),
    lang: text,
    url: TEXT,
    author: nullable(
      object({
        id: TEXT,
        username: text,
        displayName: text,
        profileImageUrl: text,
        verified: truth,
        isBlueVerified: truth,
      }),
    ),
    metrics: object({
      likes: count,
      replies: count,
      retweets: count,
      quotes: count,
      views: count,
      bookmarks: count,
    }),
    media: listOf(media),
    entities,
    quotedTweet: nullable(ref('Tweet')),
    retweetedTweet: nullable(ref('Tweet')),
    inReplyToTweetId: text,
    inReplyToUserId: text,
    inReplyToUsername: text,
    conversationId: text,
    displayTextRange: nullable(listOf(INTEGER, 2, 2)),
    source: text,
    possiblySensitive: truth,
    poll: nullable(
      object({
        choices: listOf(object({ label: TEXT, votes: count })),
        endAt: nullable(INSTANT),
        countsAreFinal: BOOLEAN,
      }),
    ),
    card: nullable(object({ type: text, url: text, title: text, description: text, imageUrl: text })),
    communityNote: NULL,
    editControl: nullable(
      object({
        editTweetIds: listOf(TEXT),
        editableUntilMs: count,
        editsRemaining: count,
        isEditEligible: truth,
      }),
    ),
  }),
  TweetError: object({
    id: TEXT,
    code: oneOf(['TWEET_NOT_FOUND', 'TWEET_PROTECTED', 'USER_SUSPENDED']),
  }),
  User: object({
    id: TEXT,
    username: TEXT,
    displayName: text,
    description: text,
    createdAt: nullable(INSTANT),
    location: text,
    url: text,
    profileImageUrl: text,
    verified: truth,
    isBlueVerified: truth,
    verifiedType: text,
    protected: truth,
    metrics: object({ followers: count, following: count, tweets: count, listed: count, likes: count }),
  }),
};
