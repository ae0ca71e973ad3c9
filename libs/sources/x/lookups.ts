import type { JsonObject } from '@bufbuild/protobuf';
import { listOf, numberOf, recordOf, textOf, unknownShape, type JsonRecord } from '../shared/shape.js';
import type { Lookup, LookupAnswer, LookupContext } from '../source.js';
import { accountIdOf, askAbout, profileOf } from './accounts.js';
import { RefusedRequest, ask, type XSettings } from './ask.js';
import { includesOf } from './includes.js';
import { failuresOf, type Failure } from './partial-errors.js';
import { followsUrl, timelineUrl, tweetsUrl } from './request.js';
import { tweetOf, type Tweet } from './tweet.js';
import { usersOf } from './user.js';

const CODES: Readonly<Record<Failure, string>> = {
  not_found: 'TWEET_NOT_FOUND',
  protected: 'TWEET_PROTECTED',
  suspended: 'USER_SUSPENDED',
};

/**
 * Returns the lookups of X: `tweets` {ids}, `user` {ref}, `userTweets`, `followers` and `following` {ref, cursor?}. A
 * ref is an account's name, with or without @, or its number.
 */
export function createLookups(settings: XSettings): Readonly<Record<string, Lookup>> {
  return {
    tweets: (question, context) => lookUpTweets(question, context, settings),
    user: async (question, context) => {
      const profile = await profileOf(refOf(question), context, settings);
      return profile.kind === 'refused' ? profile : { kind: 'found', body: { user: profile.user }, found: 1 };
    },
    userTweets: pageOf(settings, timelineUrl, tweetsOf),
    followers: pageOf(settings, (id, cursor) => followsUrl(id, 'followers', cursor), usersIn),
    following: pageOf(settings, (id, cursor) => followsUrl(id, 'following', cursor), usersIn),
  };
}

async function lookUpTweets(
  question: JsonObject,
  context: LookupContext,
  settings: XSettings,
): Promise<LookupAnswer> {
  const ids = [...new Set((listOf(question['ids']) ?? []).flatMap((id) => textOf(id) ?? []))];
  // If one id is impossible, X refuses the whole request.
  const possible = ids.filter((id) => /^\d{1,19}$/.test(id));
  const answer = possible.length === 0 ? { data: [] } : await ask(context, settings, tweetsUrl(possible));
  // If no tweet is visible, the response contains no list of tweets.
  const none = answer['data'] === undefined && listOf(answer['errors']) !== undefined;
  const tweets = new Map((none ? [] : tweetsOf(answer)).map((tweet) => [tweet.id, tweet]));
  const failures = failuresOf(answer);
  const data = ids.flatMap((id) => tweets.get(id) ?? []);
  const errors = ids
    .filter((id) => !tweets.has(id))
    .map((id) => ({ id, code: CODES[failures.get(id) ?? 'not_found'] }));
  return { kind: 'found', body: { data, errors }, found: data.length };
}

type Listed = (JsonObject & { id: string })[];

/** Returns a lookup of one page of an account's tweets, followers or followed accounts. */
function pageOf(
  settings: XSettings,
  urlOf: (userId: string, cursor: string | undefined) => string,
  read: (answer: JsonRecord) => Listed,
): Lookup {
  return async (question, context) => {
    const ref = refOf(question);
    const account = await accountIdOf(ref, context, settings);
    if (account.kind === 'refused') return account;
    const url = urlOf(account.id, textOf(question['cursor']));
    const asked = await askAbout(ref, url, context, settings).catch(refusedCursor);
    if (asked.kind === 'refused') return asked;
    const data = read(asked.answer);
    const nextCursor = textOf(recordOf(asked.answer['meta'])?.['next_token']);
    const body = { data, ...(nextCursor !== undefined && { nextCursor }) };
    return { kind: 'found', body, found: data.length };
  };
}

function refusedCursor(error: unknown): Extract<LookupAnswer, { kind: 'refused' }> {
  if (error instanceof RefusedRequest && error.parameters.includes('pagination_token')) {
    const message = 'X no longer accepts this cursor; begin again without a cursor';
    return { kind: 'refused', code: 'NOT_FOUND', message };
  }
  throw error;
}

function tweetsOf(answer: JsonRecord): Tweet[] {
  const includes = includesOf(answer);
  const entries = entriesOf(answer);
  return entries.map((entry) => {
    const tweet = tweetOf(entry, includes);
    if ('malformed' in tweet)
      throw unknownShape('x', `tweets that can be read, but one has ${tweet.malformed}`);
    return tweet;
  });
}

function usersIn(answer: JsonRecord): Listed {
  const users = usersOf(entriesOf(answer));
  if (!users) throw unknownShape('x', 'users with an id and a name');
  return users;
}

// If the list is empty, the response does not contain it, and the count in `meta` is 0.
function entriesOf(answer: JsonRecord): readonly unknown[] {
  const entries = listOf(answer['data']);
  const isEmpty = answer['data'] === undefined && numberOf(recordOf(answer['meta'])?.['result_count']) === 0;
  if (!entries && !isEmpty) throw unknownShape('x', 'a list "data"');
  return entries ?? [];
}

function refOf(question: JsonObject): string {
  return textOf(question['ref']) ?? '';
}
