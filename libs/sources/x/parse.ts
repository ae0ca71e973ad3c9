import { unescaped } from '../shared/escaped-text.js';
import { buildItem } from '../shared/item.js';
import {
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { mentionMediaOf } from './attachments.js';
import { includesOf, type Includes } from './includes.js';
import { expandedText, linksOf } from './links.js';
import { referencesOf, textPartsOf, tweetOf, versionsOf, type Tweet } from './tweet.js';
import { followersOf } from './user.js';

/** One page of a search. */
export interface SearchAnswer {
  items: SourceItem[];
  warnings: string[];
  /** Token of the next page; absent on the last page. */
  nextToken: string | undefined;
  /** The id of the newest tweet of the page. */
  newestId: string | undefined;
  /** Items that were edited. They can appear among newer items, even if they are known. */
  editedItemIds: ReadonlySet<string>;
}

/**
 * Reads a response of `/2/tweets/search/recent`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearchAnswer(answer: JsonRecord): SearchAnswer {
  const meta = recordOf(answer['meta']);
  const count = numberOf(meta?.['result_count']);
  const tweets = listOf(answer['data']);
  // A page without results has no list.
  if (!meta || count === undefined || (!tweets && count > 0)) {
    throw unknownShape('x', 'a list "data", or a "meta" that says there is none');
  }
  const includes = includesOf(answer);
  const editedItemIds = new Set<string>();
  const read = readEntries('x', tweets ?? [], (entry) => readTweet(entry, includes, editedItemIds));
  return {
    ...read,
    nextToken: textOf(meta['next_token']),
    newestId: textOf(meta['newest_id']),
    editedItemIds,
  };
}

function readTweet(entry: unknown, includes: Includes, editedItemIds: Set<string>): Reading {
  const tweet = tweetOf(entry, includes);
  if ('malformed' in tweet) return tweet;
  const record = recordOf(entry) ?? {};
  if (tweet.createdAt === null) return { malformed: 'no created_at' };
  if (referencesOf(record).has('retweeted')) return { leftOut: 'retweets' };
  const versions = versionsOf(record);
  const itemId = versions[0] ?? tweet.id;
  if (versions.length > 1) editedItemIds.add(itemId);
  return { item: itemOf({ tweet, record, includes, itemId, publishedAt: tweet.createdAt }) };
}

interface ItemOfTweet {
  tweet: Tweet;
  record: JsonRecord;
  includes: Includes;
  itemId: string;
  publishedAt: string;
}

function itemOf({ tweet, record, includes, itemId, publishedAt }: ItemOfTweet): SourceItem {
  // The envelope uses the keys `source` and `author` for other values: the source's id and the author's name.
  const { source: clientName, author, ...rest } = tweet;
  const { written, entities } = textPartsOf(record);
  const { likes, replies, retweets, quotes, views } = tweet.metrics;
  const shares = retweets === null && quotes === null ? undefined : (retweets ?? 0) + (quotes ?? 0);
  const kind = kindOf(record);
  return buildItem('x', {
    itemId,
    eventType: 'tweet.created',
    kind,
    url: tweet.url,
    text: expandedText(unescaped(written), linksOf(entities?.['urls'])),
    author: author?.username ?? undefined,
    authorName: author?.displayName ?? undefined,
    authorUrl: author?.username ? `https://x.com/${author.username}` : undefined,
    lang: languageOf(tweet.lang),
    publishedAt,
    engagement: {
      likes: likes ?? undefined,
      replies: replies ?? undefined,
      shares,
      views: views ?? undefined,
    },
    media: mentionMediaOf(record, includes),
    body: {
      ...rest,
      kind,
      authorId: author?.id ?? null,
      authorProfile: author,
      authorFollowers: followersOf(includes.users.get(author?.id ?? '')),
      clientName,
    },
  });
}

function kindOf(tweet: JsonRecord): string {
  const references = referencesOf(tweet);
  if (references.has('replied_to')) return 'reply';
  return references.has('quoted') ? 'quote' : 'post';
}

// X uses "qme", "zxx" and "und" for texts with only links, tags or pictures. These codes are not languages.
function languageOf(lang: string | null): string | undefined {
  return lang === null || /^(q..|und|zxx)$/.test(lang) ? undefined : lang;
}
