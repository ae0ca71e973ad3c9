import type { JsonObject } from '@bufbuild/protobuf';
import { listOf, numberOf, recordOf, textOf, unknownShape } from '../shared/shape.js';
import { UpstreamError, type LookupAnswer } from '../source.js';
import { aboutUrl, moderatedUrl } from './request.js';
import { askSignedIn, type RedditSettings, type SignedInContext } from './sign-in.js';

/** A subreddit in the result of the lookup of moderated subreddits. */
export type Subreddit = {
  name: string;
  title: string;
  subscribers: number;
  isNsfw: boolean;
};

/** Answers the lookup `moderated` {username}: the subreddits that a user moderates. */
export async function lookUpModerated(
  question: JsonObject,
  context: SignedInContext,
  settings: RedditSettings,
): Promise<LookupAnswer> {
  const username = (textOf(question['username']) ?? '').trim().replace(/^(@|\/?u\/)/i, '');
  // A user name of reddit has at most 20 characters: letters, digits, underscores and hyphens.
  if (!/^[A-Za-z0-9_-]{1,20}$/.test(username)) return notFound(username);
  try {
    const subreddits = await moderatedSubreddits(username, context, settings);
    return { kind: 'found', body: { subreddits }, found: subreddits.length };
  } catch (error) {
    const refused = error instanceof UpstreamError && /^(not_found|forbidden)$/.test(error.kind);
    if (!refused) throw error;
    return (await refusalOf(username, context, settings)) ?? Promise.reject(error);
  }
}

/**
 * Returns the subreddits that a user moderates.
 * @throws UpstreamError `not_found` if there is no such user, `forbidden` if reddit does not show the subreddits
 */
export async function moderatedSubreddits(
  username: string,
  context: SignedInContext,
  settings: RedditSettings,
): Promise<Subreddit[]> {
  const { body } = await askSignedIn(context, settings, moderatedUrl(username));
  return parseModerated(body);
}

/**
 * Reads the response of `/user/{name}/moderated_subreddits`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseModerated(body: unknown): Subreddit[] {
  const answer = recordOf(body);
  // For a user who moderates nothing, the response is an empty object and not an empty list.
  if (answer && Object.keys(answer).length === 0) return [];
  const rows = listOf(answer?.['data']);
  if (answer?.['kind'] !== 'ModeratedList' || !rows) throw unknownShape('reddit', 'a ModeratedList');
  return rows.map((entry) => {
    const row = recordOf(entry);
    const name = textOf(row?.['sr']) ?? textOf(row?.['display_name']);
    if (!row || name === undefined) throw unknownShape('reddit', 'subreddits with a name');
    return {
      name,
      title: textOf(row['title']) ?? '',
      subscribers: numberOf(row['subscribers']) ?? 0,
      isNsfw: row['over_18'] === true || row['over18'] === true,
    };
  });
}

/**
 * Returns the reason why reddit does not show the subreddits of a user. Undefined if the account exists and is not
 * suspended, or if the account could not be read.
 */
async function refusalOf(
  username: string,
  context: SignedInContext,
  settings: RedditSettings,
): Promise<LookupAnswer | undefined> {
  try {
    const { body } = await askSignedIn(context, settings, aboutUrl(username));
    // For a suspended account, reddit returns only the name and this flag.
    if (recordOf(recordOf(body)?.['data'])?.['is_suspended'] !== true) return undefined;
    return {
      kind: 'refused',
      code: 'USER_SUSPENDED',
      message: `The account "${username}" on reddit is suspended`,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return error.kind === 'not_found' ? notFound(username) : undefined;
  }
}

function notFound(username: string): LookupAnswer {
  return {
    kind: 'refused',
    code: 'USER_NOT_FOUND',
    message: `There is no account "${username}" on reddit`,
  };
}
