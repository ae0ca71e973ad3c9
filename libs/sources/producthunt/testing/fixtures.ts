import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: posts in the current format, and an API whose cursors are offsets.

/** Returns a post. */
export function post(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: postId(n),
    slug: `lamp-${n}`,
    name: `Lamp ${n}`,
    tagline: 'Light for everyone',
    description: 'A lamp that shines.',
    url: `https://www.producthunt.com/products/lamp-${n}?utm_campaign=producthunt-api&utm_source=Application%3A+us`,
    website: `https://www.producthunt.com/r/${n}?utm_campaign=producthunt-api`,
    createdAt: at.toISOString().replace('.000', ''),
    featuredAt: null,
    votesCount: 31,
    commentsCount: 4,
    reviewsRating: 4.92,
    user: { id: '0', name: '[REDACTED]', username: '[REDACTED]', url: '[REDACTED]' },
    thumbnail: { type: 'image', url: 'https://files.example/t.png', videoUrl: null },
    media: [],
    topics: { edges: [{ node: { name: 'Home', slug: 'home' } }] },
    ...more,
  };
}

/** Returns the id of invented post n. */
export function postId(n: number): string {
  return String(1_200_000 - n);
}

/** Returns an answer of one page. */
export function posts(nodes: readonly unknown[], endCursor: string | null = null): object {
  const pageInfo = { endCursor, hasNextPage: endCursor !== null };
  return { data: { posts: { pageInfo, edges: nodes.map((node) => ({ node })) } } };
}

/** Returns the variables of a request. */
export function variablesIn({ body }: FakeRequest): Record<string, string | number | null> {
  if (typeof body !== 'string') return {};
  return (JSON.parse(body) as { variables?: Record<string, string | number | null> }).variables ?? {};
}

/** Returns the response to a request for the newest of these posts. */
export function servePosts(all: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { after, postedAfter, first } = variablesIn(request);
  const made = all.filter(({ at }) => typeof postedAfter !== 'string' || at.toISOString() > postedAfter);
  const start = typeof after === 'string' ? Number(atob(after)) : 0;
  const end = start + Number(first ?? 20);
  const page = made.slice(start, end).map(({ n, at }) => post(n, at));
  return { body: posts(page, end < made.length ? btoa(String(end)) : null) };
}
