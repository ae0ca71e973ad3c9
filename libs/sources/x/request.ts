const API = 'https://api.x.com/2';

// X returns only requested fields; without these parameters, a response contains only ids and texts. `post.fields`
// would return the same fields with other names (referenced_posts, repost_count).
const TWEETS = {
  'tweet.fields':
    'author_id,created_at,conversation_id,entities,public_metrics,referenced_tweets,in_reply_to_user_id,lang,edit_controls,edit_history_tweet_ids,note_tweet,possibly_sensitive,attachments,display_text_range,source',
  expansions:
    'author_id,attachments.media_keys,attachments.poll_ids,referenced_tweets.id,referenced_tweets.id.author_id,in_reply_to_user_id',
  'user.fields': 'username,name,verified,verified_type,profile_image_url,protected,public_metrics',
  'media.fields': 'url,preview_image_url,width,height,duration_ms,variants',
  'poll.fields': 'options,end_datetime,voting_status',
};
const USERS = {
  'user.fields':
    'username,name,description,created_at,location,url,entities,profile_image_url,verified,verified_type,protected,public_metrics',
};

/** Tweets of one page of a search or a timeline: X's maximum. */
export const PAGE_SIZE = 100;
// X allows 1,000, but bills each returned user.
const USERS_PER_PAGE = 100;

/** The start of a search: an id or a time. X refuses a request with both. */
export type SearchStart = { sinceId: string } | { startTime: string } | undefined;

/** One page of the tweets of the last seven days. */
export interface SearchPage {
  query: string;
  start: SearchStart;
  byRelevancy: boolean;
  nextToken: string | undefined;
}

/** Returns the address of one page of a search. */
export function searchUrl({ query, start, byRelevancy, nextToken }: SearchPage): string {
  return urlOf('/tweets/search/recent', {
    query,
    max_results: String(PAGE_SIZE),
    sort_order: byRelevancy ? 'relevancy' : 'recency',
    ...(start && ('sinceId' in start ? { since_id: start.sinceId } : { start_time: start.startTime })),
    ...(nextToken !== undefined && { next_token: nextToken }),
    ...TWEETS,
  });
}

/** Returns the address of up to 100 tweets by their ids. */
export function tweetsUrl(ids: readonly string[]): string {
  return urlOf('/tweets', { ids: ids.join(','), ...TWEETS });
}

/** Returns the address of an account, by its name (without @) or its number. */
export function userUrl(ref: { username: string } | { id: string }): string {
  return urlOf('id' in ref ? `/users/${ref.id}` : `/users/by/username/${ref.username}`, USERS);
}

/** Returns the address of the newest tweets of an account, including retweets and replies. */
export function timelineUrl(userId: string, cursor: string | undefined): string {
  return urlOf(`/users/${userId}/tweets`, {
    max_results: String(PAGE_SIZE),
    ...pageOf(cursor),
    ...TWEETS,
  });
}

/** Returns the address of the followers of an account, or the accounts that it follows. */
export function followsUrl(
  userId: string,
  which: 'followers' | 'following',
  cursor: string | undefined,
): string {
  return urlOf(`/users/${userId}/${which}`, {
    max_results: String(USERS_PER_PAGE),
    ...pageOf(cursor),
    ...USERS,
  });
}

function pageOf(cursor: string | undefined): Record<string, string> {
  return cursor === undefined ? {} : { pagination_token: cursor };
}

function urlOf(path: string, query: Record<string, string>): string {
  return `${API}${path}?${new URLSearchParams(query)}`;
}
