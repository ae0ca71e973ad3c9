import { charactersFrom, pick, seededRandom } from '../../world/random.js';
import type { SimPost } from '../../world/post.js';
import type { GraphqlObject } from '../shared/graphql.js';

const SITE = 'https://www.producthunt.com';
const FILES = 'https://files.producthunt.example';
// The addresses of a post name the application that sent the request.
const ASKED_BY =
  'utm_campaign=producthunt-api&utm_medium=api-v2&utm_source=Application%3A+Earshot+%28ID%3A+1%29';
const MAX_TAGLINE_LENGTH = 60;
const POINTS_TO_BE_FEATURED = 20;
const HEX = '0123456789abcdef';
const TOPICS = [
  'Productivity',
  'Developer Tools',
  'SaaS',
  'Marketing',
  'Artificial Intelligence',
  'Home',
] as const;

/** Since 2023, the API returns this object for every user except the token's owner. */
const REDACTED_USER: GraphqlObject = {
  __typename: 'User',
  id: '0',
  name: '[REDACTED]',
  username: '[REDACTED]',
  url: '[REDACTED]',
  profileImage: null,
  twitterUsername: null,
  websiteUrl: null,
  isMaker: false,
};

/** Returns a post with all fields that the simulator has. */
export function postNode(post: SimPost): GraphqlObject {
  return {
    __typename: 'Post',
    id: post.id,
    slug: slugOf(post),
    name: post.title,
    tagline: taglineOf(post.text),
    description: post.text === '' ? null : post.text,
    url: `${SITE}/products/${slugOf(post)}?${ASKED_BY}`,
    website: `${SITE}/r/${charactersFrom(`website ${post.id}`, 'ABCDEFGHJKLMNPQRSTUVWXYZ234567', 14)}?${ASKED_BY}`,
    createdAt: wholeSeconds(madeAt(post)),
    featuredAt: isFeatured(post) ? wholeSeconds(madeAt(post)) : null,
    votesCount: post.score,
    commentsCount: post.score % 9,
    reviewsCount: post.score % 4,
    reviewsRating: post.score % 4 === 0 ? 0 : 4.5,
    isCollected: false,
    isVoted: false,
    userId: '0',
    user: REDACTED_USER,
    makers: [REDACTED_USER],
    thumbnail: mediumOf(post, 'thumbnail'),
    media: [mediumOf(post, 'gallery')],
    topics: connection('Topic', topicsOf(post).map(topicNode), { from: 0, hasNext: false }),
  };
}

/** Returns the creation time: the publication, rounded down to the second, in epoch milliseconds. */
export function madeAt(post: SimPost): number {
  return Math.floor(post.publishedAt / 1000) * 1000;
}

/** Returns true if the post was on the front page. */
export function isFeatured(post: SimPost): boolean {
  return post.score >= POINTS_TO_BE_FEATURED;
}

/** Returns the slugs of the post's topics: its community, if it has one, and an invented topic. */
export function topicSlugsOf(post: SimPost): string[] {
  return topicsOf(post).map(slugOfName);
}

/**
 * Returns a page of a list in the form of a connection. The cursor of an entry is the base64 of its position in the
 * list. The first position is 1.
 */
export function connection(
  typename: string,
  nodes: readonly GraphqlObject[],
  { from, hasNext, totalCount }: { from: number; hasNext: boolean; totalCount?: number },
): GraphqlObject {
  const edges = nodes.map((node, i) => ({
    __typename: `${typename}Edge`,
    cursor: cursorOf(from + i + 1),
    node,
  }));
  return {
    __typename: `${typename}Connection`,
    edges,
    nodes,
    totalCount: totalCount ?? nodes.length,
    pageInfo: {
      __typename: 'PageInfo',
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: hasNext,
      hasPreviousPage: from > 0,
    },
  };
}

function cursorOf(position: number): string {
  return Buffer.from(String(position)).toString('base64').replace(/=+$/, '');
}

/** Returns the name of the post in addresses. */
export function slugOf(post: SimPost): string {
  const name = slugOfName(post.title);
  return `${name || 'untitled'}-${post.number % 1000}`;
}

function slugOfName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function taglineOf(text: string): string {
  const [line = ''] = text.split('\n');
  if (line.length <= MAX_TAGLINE_LENGTH) return line;
  return line
    .slice(0, MAX_TAGLINE_LENGTH + 1)
    .replace(/\s+\S*$/, '')
    .slice(0, MAX_TAGLINE_LENGTH);
}

function mediumOf(post: SimPost, what: string): GraphqlObject {
  const name = charactersFrom(`${what} ${post.id}`, HEX, 32);
  return { __typename: 'Media', type: 'image', url: `${FILES}/${name}.png?auto=format`, videoUrl: null };
}

function topicsOf(post: SimPost): string[] {
  const invented = pick(seededRandom('topic', post.id), TOPICS);
  return post.community === '' || slugOfName(invented) === post.community
    ? [invented]
    : [post.community, invented];
}

function topicNode(name: string): GraphqlObject {
  const slug = slugOfName(name);
  return {
    __typename: 'Topic',
    id: charactersFrom(slug, '123456789', 4),
    name,
    slug,
    url: `${SITE}/topics/${slug}`,
  };
}

function wholeSeconds(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
