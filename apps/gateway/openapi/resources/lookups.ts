import type { Route } from '../operation.js';
import { inPath, inQuery, repeated } from '../parameters.js';
import {
  BOOLEAN,
  INSTANT,
  INTEGER,
  listOf,
  NULL,
  nullable,
  object,
  pageOf,
  ref,
  TEXT,
  told,
  type Schema,
} from '../schema.js';

const meta = object({ credits_used: INTEGER });

export const lookupSchemas: Readonly<Record<string, Schema>> = {
  TweetLookup: told(
    'A partial success: an id that was not found stands in `errors`',
    object({
      meta: object({ requested: INTEGER, found: INTEGER, credits_used: INTEGER }),
      data: listOf(ref('Tweet')),
      errors: listOf(ref('TweetError')),
    }),
  ),
  VideoComment: object({
    id: TEXT,
    videoId: TEXT,
    text: TEXT,
    authorDisplayName: nullable(TEXT),
    authorChannelId: nullable(TEXT),
    publishedAt: nullable(INSTANT),
    likeCount: nullable(INTEGER),
    replyCount: nullable(INTEGER),
    isHeartedByCreator: NULL,
  }),
  Subreddit: object({ name: TEXT, title: TEXT, subscribers: INTEGER, isNsfw: BOOLEAN }),
};

const ref_ = inPath('ref', 'A handle, with or without @, or a number', TEXT);
const cursor = inQuery('cursor', '`nextCursor` of the page before, unchanged');
const common = { tag: 'Lookups', method: 'get' } as const;

function ofUser(what: string, summary: string, items: Schema): Route {
  return {
    ...common,
    path: `/v1/x/users/{ref}/${what}`,
    operationId: `${what}OfUser`,
    summary,
    description: '3 credits a page; a 404 is charged too.',
    parameters: [ref_, cursor],
    answer: pageOf('data', items, { meta }),
    refusals: [402],
  };
}

export const lookupRoutes: readonly Route[] = [
  {
    ...common,
    path: '/v1/x/tweets',
    operationId: 'getTweets',
    summary: 'Tweets by id',
    description: '1 credit, and 1 for each tweet found.',
    parameters: [{ ...repeated('ids', '1 to 100 ids, separated by commas as well.'), required: true }],
    answer: ref('TweetLookup'),
    refusals: [402],
  },
  {
    ...common,
    method: 'post',
    path: '/v1/x/tweets/lookup',
    operationId: 'lookUpTweets',
    summary: 'Tweets by id',
    description: '1 credit, and 1 for each tweet found.',
    body: ref('TweetIds'),
    example: { ids: ['1212092628029698048'] },
    answer: ref('TweetLookup'),
  },
  {
    ...common,
    path: '/v1/x/users/{ref}',
    operationId: 'getUser',
    summary: 'An account of X',
    parameters: [ref_],
    answer: object({ data: ref('User'), meta }),
    refusals: [402],
  },
  ofUser('tweets', 'What an account of X posted, newest first', ref('Tweet')),
  ofUser('followers', 'Who follows an account of X', ref('User')),
  ofUser('following', 'Whom an account of X follows', ref('User')),
  {
    ...common,
    path: '/v1/youtube/videos/{id}/comments',
    operationId: 'commentsOfVideo',
    summary: 'Comments under a video, newest first',
    description: '5 credits a page.',
    parameters: [inPath('id', 'The video', TEXT), cursor],
    answer: pageOf('comments', ref('VideoComment'), { meta }),
    refusals: [402],
  },
  {
    ...common,
    path: '/v1/reddit/users/{username}/moderated',
    operationId: 'moderatedByUser',
    summary: 'Subreddits that a user moderates',
    description: '3 credits.',
    parameters: [inPath('username', 'The user, with or without u/', TEXT)],
    answer: object({ subreddits: listOf(ref('Subreddit')), meta }),
    refusals: [402],
  },
];
