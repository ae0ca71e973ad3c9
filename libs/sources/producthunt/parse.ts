import { buildItem, type ItemParts } from '../shared/item.js';
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

/** One page of posts. */
export interface PostPage {
  items: SourceItem[];
  warnings: string[];
  /** Cursor of the next page; absent on the last page. */
  cursor: string | undefined;
}

const REDACTED = '[REDACTED]';

/**
 * Reads the `data` of a response to `POSTS_QUERY`.
 * @throws UpstreamError `unknown_shape`
 */
export function parsePosts(data: unknown): PostPage {
  const posts = recordOf(recordOf(data)?.['posts']);
  const edges = listOf(posts?.['edges']);
  if (!posts || !edges) throw unknownShape('producthunt', 'posts with a list "edges"');
  const pageInfo = recordOf(posts['pageInfo']);
  return {
    ...readEntries('producthunt', edges, (edge) => readPost(recordOf(edge)?.['node'])),
    cursor: pageInfo?.['hasNextPage'] === true ? textOf(pageInfo['endCursor']) : undefined,
  };
}

function readPost(node: unknown): Reading {
  const post = recordOf(node);
  const id = textOf(post?.['id']);
  if (!post || id === undefined) return { malformed: 'no id' };
  const name = textOf(post['name'])?.trim();
  if (name === undefined) return { malformed: 'no name' };
  const publishedAt = isoOfText(post['createdAt']);
  if (publishedAt === undefined) return { malformed: 'no createdAt' };
  const slug = textOf(post['slug']);
  const url = addressOf(textOf(post['url'])) ?? addressOfSlug(slug);
  if (url === undefined) return { malformed: 'no url' };
  return { item: itemOf({ post, id, name, slug, url, publishedAt }) };
}

interface PostParts {
  post: JsonRecord;
  id: string;
  name: string;
  slug: string | undefined;
  url: string;
  publishedAt: string;
}

function itemOf({ post, id, name, slug, url, publishedAt }: PostParts): SourceItem {
  const author = authorOf(recordOf(post['user']));
  const [tagline, description] = ['tagline', 'description'].map((key) => textOf(post[key])?.trim());
  const [votes, comments] = ['votesCount', 'commentsCount'].map((key) => countOf(post[key]));
  const topics = topicsOf(post['topics']);
  const media = mediaOf(post);
  return buildItem('producthunt', {
    itemId: `producthunt:${id}`,
    eventType: 'producthunt_post.created',
    kind: 'post',
    url,
    title: name,
    text: [tagline, description].filter((part) => part !== undefined).join('\n\n'),
    author: author?.username,
    authorName: author?.name,
    authorUrl: author?.url,
    publishedAt,
    engagement: { likes: votes, replies: comments },
    media,
    body: {
      id,
      kind: 'post',
      slug: slug ?? null,
      title: name,
      tagline: tagline ?? null,
      description: description ?? null,
      // Always an address of producthunt.com that redirects to the product's own website.
      website: addressOf(textOf(post['website'])) ?? null,
      votes: votes ?? null,
      comments: comments ?? null,
      reviewsRating: numberOf(post['reviewsRating']) ?? null,
      featuredAt: isoOfText(post['featuredAt']) ?? null,
      topics: topics.map((topic) => topic.name),
      topicSlugs: topics.flatMap((topic) => topic.slug ?? []),
      thumbnail: textOf(recordOf(post['thumbnail'])?.['url']) ?? null,
      media,
      authorName: author?.name ?? null,
      authorUrl: author?.url ?? null,
    },
  });
}

// Since 2023 the API shows all accounts except the account of the token as "[REDACTED]", with the id 0.
function authorOf(user: JsonRecord | undefined) {
  const shown = (key: string) => {
    const text = textOf(user?.[key]);
    return text === REDACTED ? undefined : text;
  };
  const id = shown('id') ?? '0';
  if (id === '0') return undefined;
  return { username: shown('username'), name: shown('name'), url: addressOf(shown('url')) };
}

function mediaOf(post: JsonRecord): NonNullable<ItemParts['media']> {
  const shown = (listOf(post['media']) ?? []).flatMap((entry) => mediumOf(recordOf(entry)));
  return shown.length > 0 ? shown : mediumOf(recordOf(post['thumbnail']));
}

function mediumOf(medium: JsonRecord | undefined): { url: string; type: 'image' | 'video' }[] {
  const video = textOf(medium?.['videoUrl']);
  if (video !== undefined) return [{ url: video, type: 'video' }];
  const url = textOf(medium?.['url']);
  return url === undefined ? [] : [{ url, type: 'image' }];
}

function topicsOf(value: unknown): { name: string; slug: string | undefined }[] {
  return (listOf(recordOf(value)?.['edges']) ?? []).flatMap((edge) => {
    const topic = recordOf(recordOf(edge)?.['node']);
    const name = textOf(topic?.['name']);
    return name === undefined ? [] : [{ name, slug: textOf(topic?.['slug']) }];
  });
}

/**
 * Returns the address without tracking parameters (`utm_…`, with the id of the application that asks); undefined if the
 * text is not a URL.
 */
function addressOf(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  for (const key of [...url.searchParams.keys()]) if (key.startsWith('utm_')) url.searchParams.delete(key);
  return url.href;
}

function addressOfSlug(slug: string | undefined): string | undefined {
  return slug === undefined ? undefined : `https://www.producthunt.com/posts/${encodeURIComponent(slug)}`;
}
