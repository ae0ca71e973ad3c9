import { unescaped, unescapedOffsetsIn } from '../shared/escaped-text.js';
import { isoOfText, listOf, numberOf, recordOf, textOf, type JsonRecord } from '../shared/shape.js';
import { mediaOf, pollOf, type Media, type Poll } from './attachments.js';
import { entitiesOf, type Entities } from './entities.js';
import type { Includes } from './includes.js';
import { cardOf, linksOf, type Card } from './links.js';
import { authorOf, booleanOf, type Author } from './user.js';

/** A tweet in the form of Earshot's API. A field is null if X does not send it. */
export type Tweet = {
  id: string;
  /** The complete text, unescaped. It contains X's short links. */
  text: string;
  createdAt: string | null;
  lang: string | null;
  url: string;
  author: Author | null;
  metrics: {
    likes: number | null;
    replies: number | null;
    retweets: number | null;
    quotes: number | null;
    views: number | null;
    bookmarks: number | null;
  };
  media: Media[];
  entities: Entities;
  quotedTweet: Tweet | null;
  retweetedTweet: Tweet | null;
  inReplyToTweetId: string | null;
  inReplyToUserId: string | null;
  inReplyToUsername: string | null;
  conversationId: string | null;
  /** In code points of `text`. Null for a long text, because X sends the range of its short form. */
  displayTextRange: number[] | null;
  /** The client's name. */
  source: string | null;
  possiblySensitive: boolean | null;
  poll: Poll | null;
  card: Card | null;
  /** X's API sends no community notes. */
  communityNote: null;
  editControl: EditControl | null;
};

type EditControl = {
  /** All versions, oldest first. */
  editTweetIds: string[];
  editableUntilMs: number | null;
  editsRemaining: number | null;
  isEditEligible: boolean | null;
};

// The deepest real case is a retweet of a tweet that quotes another tweet. Without a limit, two tweets that quote each
// other would cause an endless loop.
const DEPTH = 2;

/**
 * Reads one tweet of a response, with the quoted or retweeted tweet if the response includes it.
 * @returns `malformed` with the reason if the value is not a tweet. The reason is the end of a warning: "2 of 10 items
 *   could not be read: no id"
 */
export function tweetOf(value: unknown, includes: Includes, depth = DEPTH): Tweet | { malformed: string } {
  const tweet = recordOf(value);
  const id = textOf(tweet?.['id']);
  if (!tweet || id === undefined) return { malformed: 'no id' };
  if (typeof tweet['text'] !== 'string') return { malformed: 'no text' };
  if ('referenced_posts' in tweet || 'edit_history_post_ids' in tweet) {
    return { malformed: 'fields with the names of post.fields, although tweet.fields were requested' };
  }
  const authorId = textOf(tweet['author_id']);
  const author = authorOf(authorId, includes.users.get(authorId ?? ''));
  const { written, entities, isLong } = textPartsOf(tweet);
  const references = referencesOf(tweet);
  return {
    id,
    text: unescaped(written),
    createdAt: isoOfText(tweet['created_at']) ?? null,
    lang: textOf(tweet['lang']) ?? null,
    // X also accepts the address with `i` instead of the name.
    url: `https://x.com/${author?.username ?? 'i'}/status/${id}`,
    author,
    metrics: metricsOf(tweet),
    media: mediaOf(tweet, includes),
    entities: entitiesOf(entities, written, includes),
    quotedTweet: includedTweet(references.get('quoted'), includes, depth),
    retweetedTweet: includedTweet(references.get('retweeted'), includes, depth),
    ...repliedTo(tweet, references, includes),
    conversationId: textOf(tweet['conversation_id']) ?? null,
    displayTextRange: isLong ? null : displayRangeOf(tweet, written),
    source: textOf(tweet['source']) ?? null,
    possiblySensitive: booleanOf(tweet['possibly_sensitive']),
    poll: pollOf(tweet, includes),
    card: cardOf(linksOf(entities?.['urls'])),
    communityNote: null,
    editControl: editControlOf(tweet),
  };
}

/**
 * Returns the ids of the tweets that a tweet retweets, quotes or replies to, by `retweeted`, `quoted` and `replied_to`.
 */
export function referencesOf(tweet: JsonRecord): Map<string, string> {
  const references = (listOf(tweet['referenced_tweets']) ?? []).flatMap((entry) => {
    const reference = recordOf(entry);
    const [type, id] = [textOf(reference?.['type']), textOf(reference?.['id'])];
    return type === undefined || id === undefined ? [] : [[type, id] as const];
  });
  return new Map(references);
}

/** Returns the ids of all versions of a tweet, oldest first. Each edit has its own id. */
export function versionsOf(tweet: JsonRecord): string[] {
  return (listOf(tweet['edit_history_tweet_ids']) ?? []).flatMap((id) => textOf(id) ?? []);
}

/** Returns a tweet's complete text as X sent it (escaped), and the entities that X found in it. */
export function textPartsOf(tweet: JsonRecord) {
  const long = recordOf(tweet['note_tweet']);
  const longText = textOf(long?.['text']);
  if (longText === undefined) {
    return {
      written: textOf(tweet['text']) ?? '',
      entities: recordOf(tweet['entities']),
      isLong: false,
    };
  }
  return {
    written: longText,
    entities: recordOf(long?.['entities']) ?? recordOf(tweet['entities']),
    isLong: true,
  };
}

function includedTweet(id: string | undefined, includes: Includes, depth: number): Tweet | null {
  if (id === undefined || depth === 0) return null;
  const tweet = tweetOf(includes.tweets.get(id), includes, depth - 1);
  return 'malformed' in tweet ? null : tweet;
}

function metricsOf(tweet: JsonRecord): Tweet['metrics'] {
  const metrics = recordOf(tweet['public_metrics']);
  const count = (name: string) => numberOf(metrics?.[`${name}_count`]) ?? null;
  return {
    likes: count('like'),
    replies: count('reply'),
    retweets: count('retweet'),
    quotes: count('quote'),
    views: count('impression'),
    bookmarks: count('bookmark'),
  };
}

function repliedTo(tweet: JsonRecord, references: ReadonlyMap<string, string>, includes: Includes) {
  const userId = textOf(tweet['in_reply_to_user_id']);
  return {
    inReplyToTweetId: references.get('replied_to') ?? null,
    inReplyToUserId: userId ?? null,
    inReplyToUsername: textOf(includes.users.get(userId ?? '')?.['username']) ?? null,
  };
}

function displayRangeOf(tweet: JsonRecord, written: string): number[] | null {
  const range = (listOf(tweet['display_text_range']) ?? []).flatMap((offset) => numberOf(offset) ?? []);
  return range.length === 2 ? range.map(unescapedOffsetsIn(written)) : null;
}

function editControlOf(tweet: JsonRecord): EditControl | null {
  const control = recordOf(tweet['edit_controls']);
  if (!control) return null;
  const until = isoOfText(control['editable_until']);
  // In recorded responses, this is a text ("4") or a number (5).
  const remaining = Number(control['edits_remaining'] ?? NaN);
  return {
    editTweetIds: versionsOf(tweet),
    editableUntilMs: until === undefined ? null : Date.parse(until),
    editsRemaining: Number.isFinite(remaining) ? remaining : null,
    isEditEligible: booleanOf(control['is_edit_eligible']),
  };
}
