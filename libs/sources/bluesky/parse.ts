import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfText,
  listOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { embeddedOf } from './embed.js';
import { linkAddresses, textWithLinks } from './rich-text.js';

/** One page of a search. */
export interface SearchAnswer {
  items: SourceItem[];
  warnings: string[];
  /**
   * Cursor of the next page; undefined on the last page. A page with fewer posts than the limit can be followed
   * by other pages.
   */
  cursor: string | undefined;
}

const SITE = 'https://bsky.app';
const POST_URI = /^at:\/\/(did:[a-z0-9]+:[^/]+)\/app\.bsky\.feed\.post\/([^/]+)$/;

/**
 * Reads a response of `app.bsky.feed.searchPosts`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearchAnswer(body: unknown): SearchAnswer {
  const answer = recordOf(body);
  const posts = listOf(answer?.['posts']);
  if (!answer || !posts) throw unknownShape('bluesky', 'an object with a list "posts"');
  return { ...readEntries('bluesky', posts, readPost), cursor: textOf(answer['cursor']) };
}

function readPost(entry: unknown): Reading {
  const post = recordOf(entry);
  const uri = textOf(post?.['uri']);
  const [, did, rkey] = POST_URI.exec(uri ?? '') ?? [];
  if (!post || uri === undefined || did === undefined || rkey === undefined)
    return { malformed: 'no uri of a post' };
  const record = recordOf(post['record']);
  // A post with only pictures has an empty text, but the text is present.
  if (!record || typeof record['text'] !== 'string') return { malformed: 'no record with a text' };
  const publishedAt = publishedAtOf(post, record);
  if (publishedAt === undefined) return { malformed: 'no time in indexedAt or createdAt' };
  return { item: itemOf({ post, record, uri, did, rkey, publishedAt }) };
}

interface PostParts {
  post: JsonRecord;
  record: JsonRecord;
  uri: string;
  did: string;
  rkey: string;
  publishedAt: string;
}

function itemOf({ post, record, uri, did, rkey, publishedAt }: PostParts): SourceItem {
  const author = recordOf(post['author']);
  const handle = textOf(author?.['handle']);
  // Bluesky shows an invalid handle as handle.invalid. The account's id (DID) is always valid.
  const name = handle === undefined || handle === 'handle.invalid' ? did : handle;
  const langs = (listOf(record['langs']) ?? []).map(textOf).filter((lang) => lang !== undefined);
  const reply = recordOf(record['reply']);
  const { media, ...embedded } = embeddedOf(post['embed']);
  const [likes, replies, reposts, quotes] = ['likeCount', 'replyCount', 'repostCount', 'quoteCount'].map(
    (count) => countOf(post[count]),
  );
  const text = textWithLinks(textOf(record['text']) ?? '', record['facets']);
  const shared = reposts === undefined && quotes === undefined ? undefined : (reposts ?? 0) + (quotes ?? 0);
  return buildItem('bluesky', {
    itemId: uri,
    eventType: 'bluesky_post.created',
    kind: reply ? 'reply' : 'post',
    url: `${SITE}/profile/${name}/post/${rkey}`,
    text,
    author: name,
    authorName: textOf(author?.['displayName']),
    authorUrl: `${SITE}/profile/${name}`,
    lang: langs[0],
    publishedAt,
    engagement: { likes, replies, shares: shared },
    media,
    body: {
      id: uri,
      cid: textOf(post['cid']) ?? null,
      kind: reply ? 'reply' : 'post',
      authorDid: did,
      authorName: textOf(author?.['displayName']) ?? null,
      text,
      langs,
      likes: likes ?? null,
      replies: replies ?? null,
      reposts: reposts ?? null,
      quotes: quotes ?? null,
      replyTo: textOf(recordOf(reply?.['parent'])?.['uri']) ?? null,
      replyRoot: textOf(recordOf(reply?.['root'])?.['uri']) ?? null,
      links: linkAddresses(record['facets']),
      ...embedded,
      labels: (listOf(post['labels']) ?? []).map((label) => textOf(recordOf(label)?.['val'])).filter(Boolean),
    },
  });
}

// The client sets createdAt, which can be in the future or in the last century. Bluesky sorts posts by the
// earlier of the two times, so Earshot uses the earlier time.
function publishedAtOf(post: JsonRecord, record: JsonRecord): string | undefined {
  const indexedAt = isoOfText(post['indexedAt']);
  const createdAt = isoOfText(record['createdAt']);
  if (indexedAt === undefined || createdAt === undefined) return indexedAt ?? createdAt;
  return createdAt < indexedAt ? createdAt : indexedAt;
}
