import { htmlToText } from '../shared/html-text.js';
import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfSeconds,
  listOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
  type JsonRecord,
  type Reading,
} from '../shared/shape.js';
import type { SourceItem } from '../source.js';
import { linkOf, mediaOf } from './media.js';

/** One page of posts, comments or both. */
export interface Listing {
  items: SourceItem[];
  warnings: string[];
  /** The next page begins after the post or comment with this fullname (`t3_…`, `t1_…`); absent on the last page. */
  after: string | undefined;
}

const SITE = 'https://www.reddit.com';
const GONE_TEXTS = new Set(['[deleted]', '[removed]', '[ Removed by Reddit ]']);

/**
 * Reads a Listing of posts (t3) and comments (t1).
 * @throws UpstreamError `unknown_shape`
 */
export function parseListing(body: unknown): Listing {
  const listing = recordOf(body);
  const data = recordOf(listing?.['data']);
  const children = listOf(data?.['children']);
  if (listing?.['kind'] !== 'Listing' || !data || !children) {
    throw unknownShape('reddit', 'a Listing with a list "children"');
  }
  return { ...readEntries('reddit', children, readThing), after: textOf(data['after']) };
}

function readThing(entry: unknown): Reading {
  const thing = recordOf(entry);
  const data = recordOf(thing?.['data']);
  if (!thing || !data) return { malformed: 'no data' };
  switch (thing['kind']) {
    case 't3':
      return readPost(data);
    case 't1':
      return readComment(data);
    case 'more':
      return { leftOut: 'a stub of more comments, without text' };
    default:
      return { malformed: 'neither a post nor a comment' };
  }
}

function readPost(post: JsonRecord): Reading {
  const common = commonOf(post, 't3');
  if (typeof common === 'string') return { malformed: common };
  const title = textOf(post['title'])?.trim();
  const selftext = post['selftext'];
  if (title === undefined) return { malformed: 'no title' };
  if (typeof selftext !== 'string') return { malformed: 'no selftext' };
  if (post['removed_by_category'] || isGone(selftext) || isGone(title))
    return { leftOut: 'deleted or removed' };
  const link = linkOf(post);
  const score = countOf(post['score']);
  const numComments = countOf(post['num_comments']);
  const item = buildItem('reddit', {
    ...common.parts,
    eventType: 'post.created',
    kind: 'post',
    title,
    text: readableText(selftext, post['selftext_html']),
    engagement: { score, replies: numComments },
    media: mediaOf(post),
    body: {
      // For posts, the id has no prefix; for comments, it begins with t1_. `name` is reddit's fullname and always has a
      // prefix.
      id: common.id,
      ...common.body,
      kind: 'post',
      title,
      selftext,
      link: link ?? null,
      score: score ?? null,
      numComments: numComments ?? null,
      flair: textOf(post['link_flair_text']) ?? null,
      // The response also contains the shared post. Earshot stores only its id, so that it is not a second mention.
      crosspostOf: textOf(post['crosspost_parent']) ?? null,
      parentId: null,
      postId: common.parts.itemId,
    },
  });
  return { item };
}

function readComment(comment: JsonRecord): Reading {
  const common = commonOf(comment, 't1');
  if (typeof common === 'string') return { malformed: common };
  const text = comment['body'];
  if (typeof text !== 'string') return { malformed: 'no body' };
  if (comment['removed_by_category'] || isGone(text)) return { leftOut: 'deleted or removed' };
  // Only listings of comments contain the title of the post.
  const title = textOf(comment['link_title'])?.trim() ?? '';
  const score = countOf(comment['score']);
  const item = buildItem('reddit', {
    ...common.parts,
    eventType: 'reddit_comment.created',
    kind: 'comment',
    title,
    text: readableText(text, comment['body_html']),
    engagement: { score },
    body: {
      id: common.parts.itemId,
      ...common.body,
      kind: 'comment',
      title,
      selftext: text,
      link: null,
      score: score ?? null,
      numComments: null,
      flair: null,
      crosspostOf: null,
      parentId: textOf(comment['parent_id']) ?? null,
      postId: textOf(comment['link_id']) ?? null,
    },
  });
  return { item };
}

function commonOf(thing: JsonRecord, prefix: 't1' | 't3') {
  const id = textOf(thing['id']);
  if (id === undefined) return 'no id';
  const publishedAt = isoOfSeconds(thing['created_utc']);
  if (publishedAt === undefined) return 'no created_utc';
  const subreddit = textOf(thing['subreddit']);
  const path = textOf(thing['permalink']) ?? commentPath(thing, id, subreddit);
  if (path === undefined) return 'no permalink';
  const name = `${prefix}_${id}`;
  // Posts of a deleted account can remain, without an author.
  const named = textOf(thing['author']);
  const author = named === '[deleted]' ? undefined : named;
  const url = `${SITE}${path}`;
  return {
    id,
    parts: {
      itemId: name,
      url,
      author,
      authorUrl: author === undefined ? undefined : `${SITE}/user/${encodeURIComponent(author)}`,
      community: subreddit,
      publishedAt,
    },
    body: { name, url, subreddit: subreddit ?? null, permalink: url, over18: thing['over_18'] === true },
  };
}

// Comments of 2016 have no permalink.
function commentPath(comment: JsonRecord, id: string, subreddit: string | undefined): string | undefined {
  const post = textOf(comment['link_id'])?.replace(/^t3_/, '');
  if (post === undefined || subreddit === undefined) return undefined;
  return `/r/${subreddit}/comments/${post}/_/${id}/`;
}

// Reddit also sends its Markdown as HTML. If the HTML is missing, the Markdown is used.
function readableText(markdown: string, html: unknown): string {
  const rendered = textOf(html);
  if (rendered === undefined) return htmlFreeText(markdown);
  // If the request does not contain raw_json=1, the HTML is escaped.
  const tags = rendered.startsWith('&lt;') ? htmlToText(rendered) : rendered;
  return htmlToText(tags, { addresses: true });
}

// Reddit's editor leaves these two entities in the text.
function htmlFreeText(markdown: string): string {
  return (textOf(markdown) ?? '').replace(/&#x200B;|&nbsp;/gi, ' ').trim();
}

function isGone(text: string): boolean {
  return GONE_TEXTS.has(text.trim());
}
