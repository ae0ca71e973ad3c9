import type { FakePost } from '../../testing/connector-contract.js';
import type { FakeAnswer, FakeRequest } from '../../testing/fake-upstream.js';

// Only for specs: entries in the current format, and a search with numbered pages.

/** Returns an issue. */
export function issue(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    repository_url: 'https://api.github.com/repos/lamps/desk',
    html_url: `https://github.com/lamps/desk/issues/${5000 - n}`,
    id: 3_000_000 - n,
    node_id: nodeId(n),
    number: 5000 - n,
    title: `Lamp number ${n} blinks`,
    user: { login: 'Ada-B', html_url: 'https://github.com/Ada-B', type: 'User' },
    labels: [{ name: 'bug', color: 'd73a4a' }],
    state: 'open',
    state_reason: null,
    locked: false,
    comments: 4,
    created_at: at.toISOString().replace('.000', ''),
    updated_at: at.toISOString().replace('.000', ''),
    closed_at: null,
    author_association: 'CONTRIBUTOR',
    body: `It is **number ${n}**.\r\n\r\nSee above.`,
    reactions: { total_count: 3, '+1': 2, heart: 1 },
    ...more,
  };
}

/** Returns a pull request. */
export function pullRequest(
  n: number,
  at: Date,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const url = `https://github.com/lamps/desk/pull/${5000 - n}`;
  return issue(n, at, {
    html_url: url,
    draft: true,
    pull_request: { html_url: url, merged_at: '2026-03-04T13:00:00Z' },
    user: { login: 'helper[bot]', html_url: 'https://github.com/apps/helper', type: 'Bot' },
    ...more,
  });
}

/** Returns a repository. */
export function repository(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 700 - n,
    node_id: `R_${700 - n}`,
    name: `lamp${n}`,
    full_name: `lamps/lamp${n}`,
    owner: { login: 'lamps', html_url: 'https://github.com/lamps', type: 'Organization' },
    html_url: `https://github.com/lamps/lamp${n}`,
    description: `Lamp number ${n}`,
    fork: false,
    created_at: at.toISOString(),
    updated_at: '2026-03-04T13:00:00Z',
    pushed_at: '2026-03-04T14:00:00Z',
    homepage: '',
    stargazers_count: 9,
    forks_count: 2,
    open_issues_count: 1,
    language: 'TypeScript',
    topics: ['light'],
    license: { spdx_id: 'MIT' },
    archived: false,
    ...more,
  };
}

/** Returns a discussion, as returned by the connector's query. */
export function discussion(n: number, at: Date, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: `D_${900 - n}`,
    number: 900 - n,
    url: `https://github.com/lamps/desk/discussions/${900 - n}`,
    title: `Which lamp, number ${n}?`,
    bodyText: `Number ${n}?`,
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
    closed: false,
    locked: false,
    isAnswered: true,
    upvoteCount: 6,
    author: { login: 'Grace', url: 'https://github.com/Grace', __typename: 'User' },
    category: { name: 'Q&A' },
    repository: { nameWithOwner: 'lamps/desk' },
    labels: { nodes: [{ name: 'light' }] },
    comments: { totalCount: 2 },
    reactions: { totalCount: 1 },
    ...more,
  };
}

/** Returns an answer to the search for discussions. */
export function discussions(nodes: readonly unknown[], endCursor: string | null = null): object {
  return { data: { search: { pageInfo: { endCursor, hasNextPage: endCursor !== null }, nodes } } };
}

/** Returns the id of invented issue n. */
export function nodeId(n: number): string {
  return `I_${3_000_000 - n}`;
}

/** Returns the answer to a search among these issues. */
export function serveIssues(posts: readonly FakePost[], request: FakeRequest): FakeAnswer {
  const { searchParams } = request.at;
  const [page, size] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('per_page') ?? 30)];
  const since = /created:>=(\S+)/.exec(searchParams.get('q') ?? '')?.[1];
  const found = posts.filter(({ at }) => since === undefined || at.getTime() >= Date.parse(since));
  const items = found.slice((page - 1) * size, page * size).map(({ n, at }) => issue(n, at));
  return { body: { total_count: found.length, incomplete_results: false, items } };
}
