import { buildItem } from '../shared/item.js';
import {
  countOf,
  isoOfText,
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
import type { Site } from './site.js';

/** The instance that responded, its languages, and the time of the read. */
export interface ResponseOrigin {
  host: string;
  site: Pick<Site, 'languages'>;
  now: Date;
}

/** The posts or the comments of a page, newest first. */
export interface Part {
  /** Number of posts or comments, including those that cannot become items, and pinned posts. */
  count: number;
  /** The ids, without those of pinned posts, because these come first regardless of their age. */
  itemIds: string[];
  /** ISO 8601: publication of the oldest post or comment that is not pinned. */
  oldest: string | undefined;
}

/** One page of a response. */
export interface LemmyPage {
  items: SourceItem[];
  warnings: string[];
  /** Posts and comments separately, because paging must reach far enough in each of the two lists. */
  parts: Part[];
  /** Cursor of v4, and of the post list of 0.19. */
  cursor: string | undefined;
}

// The clock of a server can be fast by this much. A post or comment with a later time becomes an item without a time.
const CLOCK_SKEW_MS = 300_000;

/**
 * Reads a response of a search.
 * @throws UpstreamError `unknown_shape`
 */
export function parseSearch(body: unknown, origin: ResponseOrigin): LemmyPage {
  const answer = recordOf(body);
  const both = listOf(answer?.['search']);
  // 1.0 has both kinds in one list; its betas and 0.19 have separate lists.
  const posts = both?.filter((view) => isOfKind(view, 'post')) ?? listOf(answer?.['posts']);
  const comments = both?.filter((view) => isOfKind(view, 'comment')) ?? listOf(answer?.['comments']);
  if (!answer || !posts || !comments) throw unknownShape('lemmy', 'an object with "posts" and "comments"');
  return pageOf(answer, [posts, comments], origin);
}

/**
 * Reads a list of posts or comments.
 * @throws UpstreamError `unknown_shape`
 */
export function parseList(body: unknown, what: 'post' | 'comment', origin: ResponseOrigin): LemmyPage {
  const answer = recordOf(body);
  const views = listOf(answer?.[`${what}s`]) ?? listOf(answer?.['items']);
  if (!answer || !views) throw unknownShape('lemmy', `an object with a list "${what}s"`);
  return pageOf(answer, [views], origin);
}

function isOfKind(entry: unknown, kind: string): boolean {
  const view = recordOf(entry);
  return view?.['type_'] === kind || (view?.['type_'] === undefined && recordOf(view?.[kind]) !== undefined);
}

function pageOf(
  answer: JsonRecord,
  lists: readonly (readonly unknown[])[],
  origin: ResponseOrigin,
): LemmyPage {
  return {
    ...readEntries('lemmy', lists.flat(), (view) => readView(view, origin)),
    parts: lists.map(partOf),
    cursor: textOf(answer['next_page']),
  };
}

function partOf(views: readonly unknown[]): Part {
  const things = views
    .map(thingOf)
    .filter((thing) => thing !== undefined)
    .filter((thing) => !isPinned(thing));
  const last = things.at(-1);
  return {
    count: views.length,
    itemIds: things.flatMap((thing) => textOf(thing['ap_id']) ?? []),
    oldest: last && publishedOf(last),
  };
}

function thingOf(view: unknown): JsonRecord | undefined {
  const record = recordOf(view);
  return recordOf(record?.['comment']) ?? recordOf(record?.['post']);
}

function isPinned(post: JsonRecord): boolean {
  return post['featured_local'] === true || post['featured_community'] === true;
}

function readView(entry: unknown, origin: ResponseOrigin): Reading {
  const view = recordOf(entry);
  const [post, comment] = [recordOf(view?.['post']), recordOf(view?.['comment'])];
  const thing = comment ?? post;
  if (!view || !post || !thing) return { malformed: 'no post' };
  const apId = textOf(thing['ap_id']);
  if (apId === undefined) return { malformed: 'no ap_id' };
  const published = publishedOf(thing);
  if (published === undefined) return { malformed: 'no time of publication' };
  const title = textOf(post['name'])?.trim();
  if (title === undefined) return { malformed: 'no name of the post' };
  if (comment && typeof comment['content'] !== 'string') return { malformed: 'no content' };
  const isGone = [thing, post].some((one) => one['deleted'] === true || one['removed'] === true);
  if (isGone || comment?.['content'] === '') return { leftOut: 'deleted or removed' };
  const latest = new Date(origin.now.getTime() + CLOCK_SKEW_MS).toISOString();
  const publishedAt = published <= latest ? published : undefined;
  return { item: itemOf({ view, post, comment, apId, title, publishedAt, origin }) };
}

interface ViewParts {
  view: JsonRecord;
  post: JsonRecord;
  comment: JsonRecord | undefined;
  apId: string;
  title: string;
  publishedAt: string | undefined;
  origin: ResponseOrigin;
}

function itemOf({ view, post, comment, apId, title, publishedAt, origin }: ViewParts): SourceItem {
  const thing = comment ?? post;
  const [creator, community] = [recordOf(view['creator']), recordOf(view['community'])];
  const kind = comment ? 'comment' : 'post';
  const counts = countsOf(view, thing, comment ? 'child_count' : 'comments');
  const text = textOf(comment ? comment['content'] : post['body']) ?? '';
  const link = comment ? undefined : textOf(post['url']);
  const lang = origin.site.languages.get(numberOf(thing['language_id']) ?? 0);
  const communityName = handleOf(community);
  return buildItem('lemmy', {
    itemId: apId,
    eventType: comment ? 'lemmy_comment.created' : 'lemmy_post.created',
    kind,
    url: apId,
    title,
    text,
    author: handleOf(creator),
    authorName: textOf(creator?.['display_name']),
    authorUrl: addressOf(creator),
    community: communityName,
    lang,
    publishedAt,
    engagement: { likes: counts.upvotes, replies: counts.replies, score: counts.score },
    media: link === undefined ? [] : [{ url: link, type: isImage(post, link) ? 'image' : 'link' }],
    body: {
      id: apId,
      instance: origin.host,
      localId: idOf(thing['id']),
      kind,
      title,
      text,
      link: link ?? null,
      linkTitle: textOf(post['embed_title']) ?? null,
      linkDescription: textOf(post['embed_description']) ?? null,
      altText: textOf(post['alt_text']) ?? null,
      thumbnail: textOf(post['thumbnail_url']) ?? null,
      community: communityName ?? null,
      communityTitle: textOf(community?.['title']) ?? null,
      communityUrl: addressOf(community) ?? null,
      authorName: textOf(creator?.['display_name']) ?? null,
      authorUrl: addressOf(creator) ?? null,
      bot: creator?.['bot_account'] === true,
      nsfw: post['nsfw'] === true,
      locked: post['locked'] === true,
      lang: lang ?? null,
      updatedAt: isoUtc(thing['updated_at'] ?? thing['updated']) ?? null,
      score: counts.score ?? null,
      upvotes: counts.upvotes ?? null,
      downvotes: counts.downvotes ?? null,
      replies: counts.replies ?? null,
      postUrl: textOf(post['ap_id']) ?? null,
      parentId: comment ? parentOf(comment) : null,
    },
  });
}

// v3 sends the counts in a separate object "counts"; v4 sends them in the post or comment itself.
function countsOf(view: JsonRecord, thing: JsonRecord, replies: string) {
  const counts = recordOf(view['counts']) ?? thing;
  return {
    score: countOf(counts['score']),
    upvotes: countOf(counts['upvotes']),
    downvotes: countOf(counts['downvotes']),
    replies: countOf(counts[replies]),
  };
}

/** `name@server` of a person or a community, because names are unique only on their server. */
function handleOf(actor: JsonRecord | undefined): string | undefined {
  const name = textOf(actor?.['name']);
  const address = addressOf(actor);
  if (name === undefined || address === undefined || !URL.canParse(address)) return name;
  return `${name}@${new URL(address).host}`;
}

function addressOf(actor: JsonRecord | undefined): string | undefined {
  return textOf(actor?.['actor_id']) ?? textOf(actor?.['ap_id']);
}

function isImage(post: JsonRecord, link: string): boolean {
  const type = textOf(post['url_content_type']);
  return type === undefined ? /\.(jpe?g|png|gif|webp|avif)(\?|$)/i.test(link) : type.startsWith('image/');
}

// The path consists of 0, the ids of the parent comments, and the comment's own id. A direct comment on the post has no
// parent comment.
function parentOf(comment: JsonRecord): string | null {
  const parent = (textOf(comment['path']) ?? '').split('.').at(-2);
  return parent === undefined || parent === '0' ? null : parent;
}

function idOf(value: unknown): string | null {
  const id = numberOf(value);
  return id === undefined ? null : String(id);
}

function publishedOf(thing: JsonRecord): string | undefined {
  return isoUtc(thing['published_at'] ?? thing['published']);
}

// Lemmy 0.18 sends times in UTC without a time zone.
function isoUtc(value: unknown): string | undefined {
  const text = textOf(value);
  return isoOfText(text !== undefined && /T[\d:.]+$/.test(text) ? `${text}Z` : text);
}
