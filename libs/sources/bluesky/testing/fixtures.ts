import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: makes post views in Bluesky's current format, and answers searches page by page, as Bluesky does.

const DID = 'did:plc:ada000000000000000000000';

/** Returns a post view. `record` replaces fields of the record. */
export function postView(
  n: number,
  at: Date,
  { record = {}, ...more }: { record?: Record<string, unknown>; [key: string]: unknown } = {},
): Record<string, unknown> {
  return {
    uri: postUri(n),
    cid: `bafyrei${n}`,
    author: { did: DID, handle: 'Ada.lamps.example', displayName: 'Ada B.', labels: [] },
    record: {
      $type: 'app.bsky.feed.post',
      createdAt: at.toISOString(),
      langs: ['en-GB'],
      text: `Lamp number ${n}`,
      ...record,
    },
    replyCount: 1,
    repostCount: 2,
    likeCount: 3,
    quoteCount: 4,
    indexedAt: at.toISOString(),
    labels: [],
    ...more,
  };
}

/** Returns the address (`at://…`) of the invented post with the number n. */
export function postUri(n: number): string {
  return `at://${DID}/app.bsky.feed.post/3l${n}`;
}

/** Returns a page of these posts as the answer to a search. The query of the search is ignored. */
export function servePosts(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { searchParams } = request.at;
  const since = searchParams.get('since') ?? '';
  const found = posts.filter(({ at }) => at.toISOString() >= since);
  const start = Number(searchParams.get('cursor') ?? 0);
  const end = start + Number(searchParams.get('limit') ?? 25);
  const page = found.slice(start, end).map(({ n, at }) => postView(n, at));
  return {
    body: { posts: page, hitsTotal: found.length, ...(end < found.length && { cursor: String(end) }) },
  };
}

/** Returns the answer to a sign-in, or to the refresh of a session; undefined for every other request. */
export function serveSignIn(request: FakeRequest): FakeAnswer | undefined {
  switch (request.at.pathname) {
    case '/xrpc/com.atproto.server.createSession':
      return {
        body: { did: DID, handle: 'us.lamps.example', accessJwt: 'access-1', refreshJwt: 'refresh-1' },
      };
    case '/xrpc/com.atproto.server.refreshSession':
      return {
        body: { did: DID, handle: 'us.lamps.example', accessJwt: 'access-2', refreshJwt: 'refresh-2' },
      };
    default:
      return undefined;
  }
}
