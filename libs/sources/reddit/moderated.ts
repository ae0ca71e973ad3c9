import { listOf, numberOf, recordOf, textOf, unknownShape } from '../shape.js';
import { moderatedUrl } from './request.js';
import { askSignedIn, type RedditSettings, type SignedInContext } from './sign-in.js';

/** A subreddit as the lookup of moderated subreddits tells it. */
export interface Subreddit {
  name: string;
  title: string;
  subscribers: number;
  isNsfw: boolean;
}

/** The subreddits that a user moderates. Throws `UpstreamError`; `not_found` when there is no such user. */
export async function moderatedSubreddits(
  username: string,
  context: SignedInContext,
  settings: RedditSettings,
): Promise<Subreddit[]> {
  const { body } = await askSignedIn(context, settings, moderatedUrl(username));
  return parseModerated(body);
}

/** Reads the answer to `/user/{name}/moderated_subreddits`. Throws `UpstreamError` `unknown_shape`. */
export function parseModerated(body: unknown): Subreddit[] {
  const answer = recordOf(body);
  // Who moderates nothing is answered with an empty object, not with an empty list.
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
