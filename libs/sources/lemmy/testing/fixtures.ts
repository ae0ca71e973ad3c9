import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: views in the format of 0.19 and of 1.0, and a server that pages like Lemmy.

type Api = 'v3' | 'v4';

const LANGUAGES = [
  { id: 0, code: 'und', name: 'Undetermined' },
  { id: 37, code: 'en', name: 'English' },
];

/** Differences from the default: keys of the post, the comment, the creator or the view. */
export interface More {
  post?: Record<string, unknown>;
  comment?: Record<string, unknown>;
  creator?: Record<string, unknown>;
  view?: Record<string, unknown>;
}

/** Returns a post as 0.19 shows it. */
export function postView(n: number, at: Date, more: More = {}): Record<string, unknown> {
  return {
    post: {
      id: 1000 - n,
      name: `A lamp, number ${n}`,
      body: `Lamp **number ${n}**`,
      removed: false,
      deleted: false,
      locked: false,
      nsfw: false,
      // Lemmy sends microseconds and a time zone.
      published: at.toISOString().replace('Z', '123Z'),
      ap_id: postUrl(n),
      language_id: 37,
      featured_community: false,
      featured_local: false,
      ...more.post,
    },
    creator: {
      name: 'Ada',
      display_name: 'Ada B.',
      actor_id: 'https://lamps.example/u/Ada',
      bot_account: false,
      ...more.creator,
    },
    community: { name: 'lighting', title: 'Lighting', actor_id: 'https://light.example/c/lighting' },
    counts: { comments: 4, score: 17, upvotes: 20, downvotes: 3 },
    ...more.view,
  };
}

/** Returns a comment as 0.19 shows it, under post 900. */
export function commentView(n: number, at: Date, more: More = {}): Record<string, unknown> {
  return {
    ...postView(900, at, more),
    comment: {
      id: 5000 - n,
      content: `I like lamp ${n}.`,
      removed: false,
      deleted: false,
      published: at.toISOString(),
      ap_id: commentUrl(n),
      path: `0.${5000 - n}`,
      language_id: 0,
      ...more.comment,
    },
    counts: { child_count: 1, score: 2, upvotes: 2, downvotes: 0 },
  };
}

/** Returns the same view as 1.0 shows it. */
export function inV4(view: Record<string, unknown>): Record<string, unknown> {
  const { counts, ...parts } = view as Record<string, Record<string, unknown>>;
  const kind = parts['comment'] ? 'comment' : 'post';
  const renamed = Object.entries(parts).map(([key, { published, actor_id, ...rest }]) => [
    key,
    {
      ...rest,
      ...(published !== undefined && { published_at: published }),
      ...(actor_id !== undefined && { ap_id: actor_id }),
      ...(key === kind && counts),
    },
  ]);
  return { type_: kind, ...Object.fromEntries(renamed) };
}

/** Returns the address of invented post n. */
export function postUrl(n: number): string {
  return `https://lamps.example/post/${1000 - n}`;
}

/** Returns the address of invented comment n. */
export function commentUrl(n: number): string {
  return `https://lamps.example/comment/${5000 - n}`;
}

/** Returns the answer to a search among these posts, or to a request for a list of them. */
export function servePosts(api: Api, posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { pathname, searchParams } = request.at;
  const limit = Number(searchParams.get('limit') ?? 10);
  const mark = Number(searchParams.get('page_cursor') ?? searchParams.get('page') ?? 1);
  const page = posts.slice((mark - 1) * limit, mark * limit).map(({ n, at }) => postView(n, at));
  const next = posts.length > mark * limit ? String(mark + 1) : null;
  if (pathname.endsWith('/comment/list')) return { body: { comments: [], items: [], next_page: null } };
  if (api === 'v4') return { body: { search: page.map(inV4), items: page.map(inV4), next_page: next } };
  const isList = pathname.endsWith('/post/list');
  return {
    body: { posts: page, comments: [], communities: [], users: [], ...(isList && { next_page: next }) },
  };
}

/** Returns the response with the version; undefined for every other request. */
export function serveSite(version: string, request: FakeRequest): FakeAnswer | undefined {
  if (request.at.pathname !== '/api/v3/site') return undefined;
  return { body: { site_view: {}, admins: [], version, all_languages: LANGUAGES } };
}
