import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: statuses in the current format, and an instance that pages like Mastodon.

/** Returns a status, as returned by an instance that received the status at `at`. */
export function status(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: statusId(n, at),
    created_at: at.toISOString(),
    in_reply_to_id: null,
    sensitive: false,
    spoiler_text: '',
    visibility: 'public',
    language: 'en',
    uri: statusUri(n),
    url: `https://lamps.example/@Ada/${n}`,
    replies_count: 1,
    reblogs_count: 2,
    favourites_count: 3,
    quotes_count: 4,
    edited_at: null,
    content: `<p>Lamp number ${n}</p>`,
    reblog: null,
    account: {
      id: '7',
      username: 'Ada',
      acct: 'Ada@lamps.example',
      display_name: 'Ada B.',
      url: 'https://lamps.example/@Ada',
      followers_count: 12,
      bot: false,
    },
    media_attachments: [],
    mentions: [],
    tags: [],
    emojis: [],
    card: null,
    poll: null,
    ...more,
  };
}

/** Returns the address of invented status n on all instances. */
export function statusUri(n: number): string {
  return `https://lamps.example/users/Ada/statuses/${n}`;
}

/** Returns the id of status n on an instance that received the status at `at`. */
export function statusId(n: number, at: Date): string {
  return String((BigInt(at.getTime()) << 16n) + BigInt(65_535 - (n % 65_536)));
}

/** Returns the answer to a search, or to a timeline, among these posts. */
export function servePosts(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { pathname, searchParams } = request.at;
  const limit = Number(searchParams.get('limit') ?? 20);
  const statuses = posts.map(({ n, at }) => status(n, at));
  if (pathname === '/api/v2/search') {
    const offset = Number(searchParams.get('offset') ?? 0);
    return { body: { accounts: [], statuses: statuses.slice(offset, offset + limit), hashtags: [] } };
  }
  const maxId = searchParams.get('max_id');
  const older = statuses.filter(({ id }) => maxId === null || BigInt(String(id)) < BigInt(maxId));
  const page = older.slice(0, limit);
  return { body: page, ...(page.length > 0 && { headers: { link: linkOf(request, page) } }) };
}

function linkOf({ at }: FakeRequest, page: readonly Record<string, unknown>[]): string {
  const linkTo = (key: string, id: unknown) => {
    const url = new URL(at);
    url.searchParams.set(key, String(id));
    return `<${url.href}>`;
  };
  const [next, prev] = [linkTo('max_id', page.at(-1)?.['id']), linkTo('min_id', page[0]?.['id'])];
  return `${next}; rel="next", ${prev}; rel="prev"`;
}
