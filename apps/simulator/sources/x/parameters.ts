import type { FastifyRequest } from 'fastify';
import { queryOf } from '../../context.js';

/** The fault of a value, as text that follows the value in the message; undefined if the value is valid. */
type Check = (value: string) => string | undefined;

/** The parameters of an endpoint, and their valid values. */
export type Parameters = Record<string, Check>;

/** One fault of a request. */
export interface ParameterFault {
  parameters: Record<string, string[]>;
  message: string;
}

const TWEET_FIELDS =
  'article,attachments,author_id,card_uri,community_id,context_annotations,conversation_id,created_at,display_text_range,edit_controls,edit_history_tweet_ids,entities,geo,id,in_reply_to_user_id,lang,media_metadata,non_public_metrics,note_tweet,organic_metrics,possibly_sensitive,promoted_metrics,public_metrics,referenced_tweets,reply_settings,scopes,source,suggested_source_links,text,withheld';
const USER_FIELDS =
  'affiliation,confirmed_email,connection_status,created_at,description,entities,id,is_identity_verified,location,most_recent_tweet_id,name,parody,pinned_tweet_id,profile_banner_url,profile_image_url,protected,public_metrics,receives_your_dm,subscription,subscription_type,url,username,verified,verified_followers_count,verified_type,withheld';
const EXPANSIONS =
  'article.cover_media,article.media_entities,attachments.media_keys,attachments.media_source_tweet,attachments.poll_ids,author_id,edit_history_tweet_ids,entities.mentions.username,entities.note.mentions.username,geo.place_id,in_reply_to_user_id,referenced_tweets.id,referenced_tweets.id.attachments.media_keys,referenced_tweets.id.author_id';
const MEDIA_FIELDS =
  'alt_text,duration_ms,height,media_key,non_public_metrics,organic_metrics,preview_image_url,promoted_metrics,public_metrics,type,url,variants,width';
const POLL_FIELDS = 'duration_minutes,end_datetime,id,options,voting_status';

const anything: Check = () => undefined;
const ID = matching('^[0-9]{1,19}$');
const INSTANT = matching(String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$`);
const OF_TWEETS: Parameters = {
  'tweet.fields': among(TWEET_FIELDS),
  'user.fields': among(USER_FIELDS),
  'media.fields': among(MEDIA_FIELDS),
  'poll.fields': among(POLL_FIELDS),
  'place.fields': anything,
  expansions: among(EXPANSIONS),
};
const OF_A_TIME: Parameters = { since_id: ID, until_id: ID, start_time: INSTANT, end_time: INSTANT };

/** The parameters of a search of tweets. */
export const SEARCH_PARAMETERS: Parameters = {
  query: (value) => (value.length > 512 ? 'is longer than 512 characters' : undefined),
  max_results: within(10, 100),
  next_token: anything,
  pagination_token: anything,
  sort_order: among('recency,relevancy'),
  ...OF_A_TIME,
  ...OF_TWEETS,
};
/** The parameters of a request for tweets by their ids. */
export const TWEETS_PARAMETERS: Parameters = { ids: idsCheck, ...OF_TWEETS };
/** The parameters of a request for the tweets of an account. */
export const TIMELINE_PARAMETERS: Parameters = {
  max_results: within(5, 100),
  pagination_token: anything,
  exclude: among('replies,retweets'),
  ...OF_A_TIME,
  ...OF_TWEETS,
};
/** The parameters of a request for an account. */
export const USER_PARAMETERS: Parameters = {
  'user.fields': among(USER_FIELDS),
  'tweet.fields': among(TWEET_FIELDS),
  expansions: among('affiliation.user_id,most_recent_tweet_id,pinned_tweet_id'),
};
/** The parameters of a request for the followers of an account, or for the accounts that it follows. */
export const FOLLOWS_PARAMETERS: Parameters = {
  max_results: within(1, 1_000),
  pagination_token: anything,
  ...USER_PARAMETERS,
};

/** A user's handle in a path. */
export const USERNAME = matching('^[A-Za-z0-9_]{1,15}$');
/** An id in a path. */
export const PATH_ID = ID;

/** Returns the faults of the parameters: unknown parameters, invalid values, missing parameters. */
export function faultsOf(
  request: FastifyRequest,
  known: Parameters,
  required: readonly string[] = [],
): ParameterFault[] {
  const { one, all } = queryOf(request);
  const missing = required
    .filter((name) => !one(name))
    .map((name) => ({
      parameters: { [name]: all(name) },
      message: `The \`${name}\` query parameter can not be empty`,
    }));
  const given = Object.keys(request.query as object).filter((name) => one(name));
  const wrong = given.flatMap((name): ParameterFault[] => {
    const check = known[name];
    const values = all(name);
    const message = check
      ? firstOf(values, check, name)
      : `The query parameter [${name}] is not one of [${Object.keys(known).join(',')}]`;
    return message === undefined ? [] : [{ parameters: { [name]: values }, message }];
  });
  return [...missing, ...wrong];
}

/** Returns the fault of one value, in X's words. */
export function faultOf(name: string, value: string, check: Check): ParameterFault | undefined {
  const message = firstOf([value], check, name);
  return message === undefined ? undefined : { parameters: { [name]: [value] }, message };
}

function firstOf(values: readonly string[], check: Check, name: string): string | undefined {
  for (const value of values) {
    const wrong = check(value);
    // X's message about the length of a list does not name the parameter.
    if (wrong !== undefined)
      return wrong.startsWith('size') ? wrong : `The \`${name}\` query parameter value [${value}] ${wrong}`;
  }
  return undefined;
}

function within(min: number, max: number): Check {
  return (value) =>
    /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max
      ? undefined
      : `is not between ${min} and ${max}`;
}

function among(known: string): Check {
  const values = known.split(',');
  return (value) =>
    value.split(',').every((each) => values.includes(each)) ? undefined : `is not one of [${known}]`;
}

function matching(pattern: string): Check {
  return (value) => (new RegExp(pattern).test(value) ? undefined : `does not match ${pattern}`);
}

function idsCheck(value: string): string | undefined {
  const ids = value.split(',');
  if (ids.length > 100) return `size [${ids.length}] is not between 1 and 100`;
  return ids.every((id) => ID(id) === undefined) ? undefined : 'does not match ^[0-9]{1,19}$';
}
