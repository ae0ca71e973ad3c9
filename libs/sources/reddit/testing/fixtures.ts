import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: posts and comments in the current format, and a server whose pages begin after the post in `after`.

/** Returns a text post. */
export function postThing(n: number, at: Date, more: Record<string, unknown> = {}) {
  const id = idOf(n);
  return {
    kind: 't3',
    data: {
      id,
      name: `t3_${id}`,
      author: 'Ada_Byron',
      author_fullname: 't2_x1',
      created_utc: at.getTime() / 1000,
      is_self: true,
      link_flair_text: null,
      num_comments: 4,
      over_18: false,
      permalink: `/r/lamps/comments/${id}/a_lamp/`,
      removed_by_category: null,
      score: 17,
      selftext: `Lamp **number ${n}** is _bright_.`,
      selftext_html: `<!-- SC_OFF --><div class="md"><p>Lamp <strong>number ${n}</strong> is <em>bright</em>.</p>\n</div><!-- SC_ON -->`,
      subreddit: 'lamps',
      thumbnail: 'self',
      title: `A lamp, number ${n}`,
      url: `https://www.reddit.com/r/lamps/comments/${id}/a_lamp/`,
      ...more,
    },
  };
}

/** Returns a comment in a listing of comments. */
export function commentThing(n: number, at: Date, more: Record<string, unknown> = {}) {
  const id = idOf(n);
  return {
    kind: 't1',
    data: {
      id,
      name: `t1_${id}`,
      author: 'GraceH',
      body: 'I like [this one](https://lamps.example/7).',
      body_html: '<div class="md"><p>I like <a href="https://lamps.example/7">this one</a>.</p>\n</div>',
      created_utc: at.getTime() / 1000,
      link_id: 't3_100',
      link_title: 'A lamp, number 1',
      parent_id: 't1_9',
      permalink: `/r/lamps/comments/100/a_lamp/${id}/`,
      replies: '',
      score: 2,
      subreddit: 'lamps',
      ...more,
    },
  };
}

/** Returns the fullname (`t3_` and the id) of invented post n. */
export function postName(n: number): string {
  return `t3_${idOf(n)}`;
}

/** Returns a listing. */
export function listing(children: readonly unknown[], after: string | null = null) {
  return { kind: 'Listing', data: { modhash: '', dist: children.length, children, after, before: null } };
}

/** Returns the answer to a search or a listing among these posts. */
export function servePosts(posts: readonly FakePost[], request: FakeRequest): { body: object } {
  const after = request.at.searchParams.get('after');
  const start = after === null ? 0 : posts.findIndex(({ n }) => postName(n) === after) + 1;
  const page = posts.slice(start, start + Number(request.at.searchParams.get('limit')));
  const last = page.at(-1);
  const more = last !== undefined && last !== posts.at(-1);
  return {
    body: listing(
      page.map(({ n, at }) => postThing(n, at)),
      more ? postName(last.n) : null,
    ),
  };
}

/** Returns the answer to a sign-in; undefined for every other request. */
export function serveSignIn(request: FakeRequest): FakeAnswer | undefined {
  if (request.at.pathname !== '/api/v1/access_token') return undefined;
  return { body: { access_token: 'token-1', token_type: 'bearer', expires_in: 86_400, scope: '*' } };
}

function idOf(n: number): string {
  return (1_000_000 - n).toString(36);
}
