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
  described,
  type Schema,
} from '../schema.js';

const meta = object({ credits_used: INTEGER });

export const lookupSchemas: Readonly<Record<string, Schema>> = {
  TweetLookup: described(
    'Ids that were not found are in `errors`',
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

const userRef = inPath('ref', 'A handle, with or without @, or a numeric id', TEXT);
const cursor = inQuery('cursor', '`nextCursor` of the previous page, unchanged');
const common = { tag: 'Lookups', method: 'get' } as const;

function ofUser(what: string, summary: string, items: Schema): Route {
  return {
    ...common,
    path: `/v1/x/users/{ref}/${what}`,
    operationId: `${what}OfUser`,
    summary,
    description: 'Costs 3 credits a page. A 404 costs the same.',
    parameters: [userRef, cursor],
    answer: pageOf('data', items, { meta }),
    refusals: [402],
  };
}

export const lookupRoutes: readonly Route[] = [
  {
    ...common,
    path: '/v1/x/tweets',
    operationId: 'getTweets',
    summary: 'Get tweets by id',
    description: 'Costs 1 credit, and 1 credit for each tweet that is found.',
    parameters: [
      {
        ...repeated('ids', ''),
        description: '1 to 100 ids. Repeat the parameter, or separate ids with commas.',
        required: true,
      },
    ],
    answer: ref('TweetLookup'),
    refusals: [402],
  },
  {
    ...common,
    method: 'post',
    path: '/v1/x/tweets/lookup',
    operationId: 'lookUpTweets',
    summary: 'Get tweets by id',
    description: 'Costs 1 credit, and 1 credit for each tweet that is found.',
    body: ref('TweetIds'),
    example: { ids: ['1212092628029698048'] },
    answer: ref('TweetLookup'),
  },
  {
    ...common,
    path: '/v1/x/users/{ref}',
    operationId: 'getUser',
    summary: 'Get an account of X',
    description: 'By handle, with or without `@`, or by numeric id. Costs 3 credits. A 404 costs the same.',
    parameters: [userRef],
    answer: object({ data: ref('User'), meta }),
    refusals: [402],
  },
  ofUser('tweets', 'List the posts of an account of X, newest first', ref('Tweet')),
  ofUser('followers', 'List the followers of an account of X', ref('User')),
  ofUser('following', 'List the accounts that an account of X follows', ref('User')),
  {
    ...common,
    path: '/v1/youtube/videos/{id}/comments',
    operationId: 'commentsOfVideo',
    summary: 'List the comments of a video, newest first',
    description: 'Costs 5 credits a page.',
    parameters: [inPath('id', 'Id of the video', TEXT), cursor],
    answer: pageOf('comments', ref('VideoComment'), { meta }),
    refusals: [402],
  },
  {
    ...common,
    path: '/v1/reddit/users/{username}/moderated',
    operationId: 'moderatedByUser',
    summary: 'List the subreddits that a user moderates',
    description: 'Costs 3 credits.',
    parameters: [inPath('username', 'Name of the user, with or without u/', TEXT)],
    answer: object({ subreddits: listOf(ref('Subreddit')), meta }),
    refusals: [402],
  },
];
