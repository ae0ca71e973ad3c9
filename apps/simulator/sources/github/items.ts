import { charactersFrom, pick, seededRandom, wholeBelow } from '../../world/random.js';
import { wordsOf, wordsOfPost } from '../../world/search-text.js';
import type { SimPost } from '../../world/post.js';

const API = 'https://api.github.com';
const SITE = 'https://github.com';
const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const LANGUAGES = ['TypeScript', 'Python', 'Go', 'Rust'] as const;
const LABELS = [
  { name: 'bug', color: 'd73a4a', description: "Something isn't working" },
  { name: 'question', color: 'd876e3', description: 'Further information is requested' },
  { name: 'enhancement', color: 'a2eeef', description: 'New feature or request' },
] as const;
const ID_PREFIXES: Partial<Record<SimPost['kind'], string>> = {
  issue: 'I_kwDO',
  pull_request: 'PR_kwDO',
  discussion: 'D_kwDO',
  repository: 'R_kgDO',
};

/** The properties that a search can query. All are in lower case, except `repository`, `login` and `language`. */
export interface Facts {
  /** Words by field: `title` and `body`; for a repository `name`, `description` and `topics`. */
  texts: Readonly<Record<string, readonly string[]>>;
  is: ReadonlySet<string>;
  repository: string;
  login: string;
  language: string;
  labels: readonly string[];
  topics: readonly string[];
  /** Epoch milliseconds of a whole second. */
  createdAt: number;
}

/** Returns the searchable properties of the post. */
export function factsOf(post: SimPost): Facts {
  const words = wordsOfPost(post);
  const isRepository = post.kind === 'repository';
  const topics = isRepository ? topicsOf(post) : [];
  const kinds = post.kind === 'pull_request' ? ['pr', 'pull-request'] : [post.kind];
  return {
    texts: isRepository
      ? { name: words.title, description: words.text, topics: topics.flatMap(wordsOf) }
      : { title: words.title, body: words.text },
    is: new Set([...kinds, isClosed(post) ? 'closed' : 'open', 'public']),
    repository: repositoryNameOf(post),
    login: loginOf(post),
    language: languageOf(post),
    labels: labelsOf(post).map(({ name }) => name),
    topics,
    createdAt: Math.floor(post.publishedAt / 1000) * 1000,
  };
}

/** Returns the id of an item. The id depends neither on the repository nor on the title of the item. */
export function nodeIdOf(post: SimPost): string {
  return `${ID_PREFIXES[post.kind] ?? 'I_kwDO'}${charactersFrom(`${post.kind} ${post.id}`, BASE62, 12)}`;
}

/**
 * Returns `owner/name`. For a repository, these are its author and its title. For other items, this is the community of
 * the post, with `/rocket` after it if the community is not an `owner/name`.
 */
export function repositoryNameOf(post: SimPost): string {
  if (post.kind === 'repository')
    return `${loginOf(post)}/${wordsOf(post.title).join('-').slice(0, 80) || 'untitled'}`;
  return post.community.includes('/') ? post.community : `${post.community || 'acme'}/rocket`;
}

/**
 * Returns the login of the post's author: the name, with one hyphen in place of each run of characters that are not
 * letters, digits or square brackets.
 */
export function loginOf({ author }: SimPost): string {
  return author.replace(/[^A-Za-z0-9[\]]+/g, '-');
}

/**
 * Returns the number of an item. The issues, pull requests and discussions of a repository share one sequence of
 * numbers.
 */
export function numberOf(post: SimPost): number {
  return post.number % 1_000_000;
}

/** Returns the address of the page of an item. */
export function addressOf(post: SimPost): string {
  const repository = `${SITE}/${repositoryNameOf(post)}`;
  switch (post.kind) {
    case 'repository':
      return repository;
    case 'pull_request':
      return `${repository}/pull/${numberOf(post)}`;
    case 'discussion':
      return `${repository}/discussions/${numberOf(post)}`;
    default:
      return `${repository}/issues/${numberOf(post)}`;
  }
}

/** Returns the labels of an item: one, or none. */
export function labelsOf(post: SimPost): (typeof LABELS)[number][] {
  const start = wholeBelow(seededRandom('label', post.id), LABELS.length + 1);
  return LABELS.slice(start, start + 1);
}

/** Returns true if the item is closed: one in five issues, pull requests and discussions. */
export function isClosed({ kind, score }: SimPost): boolean {
  return kind !== 'repository' && score % 5 === 0;
}

/** Returns an issue or a pull request in a search result. */
export function issueOf(post: SimPost): object {
  const repository = `${API}/repos/${repositoryNameOf(post)}`;
  const url = `${repository}/issues/${numberOf(post)}`;
  const isPull = post.kind === 'pull_request';
  const at = wholeSeconds(post);
  const closedAt = isClosed(post) ? at : null;
  const likes = post.score % 4;
  return {
    url,
    repository_url: repository,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: addressOf(post),
    id: post.number,
    node_id: nodeIdOf(post),
    number: numberOf(post),
    title: post.title,
    user: userOf(loginOf(post)),
    labels: labelsOf(post).map((label) => labelView(label, repository)),
    state: closedAt ? 'closed' : 'open',
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: post.score % 6,
    created_at: at,
    updated_at: at,
    closed_at: closedAt,
    author_association: 'NONE',
    type: null,
    active_lock_reason: null,
    ...(isPull ? pullOf(post, repository, closedAt) : ISSUE_ONLY),
    body: bodyOf(post),
    reactions: {
      url: `${url}/reactions`,
      total_count: likes,
      ...{ '+1': likes, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 },
    },
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: closedAt && !isPull ? 'completed' : null,
    score: 1,
  };
}

const ISSUE_ONLY = {
  sub_issues_summary: { total: 0, completed: 0, percent_completed: 0 },
  issue_dependencies_summary: { blocked_by: 0, total_blocked_by: 0, blocking: 0, total_blocking: 0 },
};

function pullOf(post: SimPost, repository: string, closedAt: string | null): object {
  const html = addressOf(post);
  return {
    draft: false,
    pull_request: {
      url: `${repository}/pulls/${numberOf(post)}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: post.score % 2 === 0 ? closedAt : null,
    },
  };
}

/** Returns the body of an item, with the CRLF line ends of GitHub's web forms. */
function bodyOf({ text }: SimPost): string | null {
  return text === '' ? null : text.replaceAll('\n', '\r\n');
}

function labelView(label: (typeof LABELS)[number], repository: string): object {
  const id = 1_000_000_000 + wholeBelow(seededRandom('label', repository, label.name), 1_000_000_000);
  return {
    id,
    node_id: `LA_kwDO${charactersFrom(String(id), BASE62, 12)}`,
    url: `${repository}/labels/${label.name}`,
    name: label.name,
    color: label.color,
    default: true,
    description: label.description,
  };
}

/** An account, as issues, discussions and repositories contain it. */
export interface GithubAccount {
  login: string;
  html_url: string;
  avatar_url: string;
  type: string;
  [more: string]: unknown;
}

/** Returns an account. A login that ends in `[bot]` is an app. */
export function userOf(login: string): GithubAccount {
  const id = 1_000_000 + wholeBelow(seededRandom('account', login), 100_000_000);
  const isBot = login.endsWith('[bot]');
  const url = `${API}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: `${isBot ? 'BOT_kgDO' : 'U_kgDO'}${charactersFrom(login, BASE62, 4)}`,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: isBot ? `${SITE}/apps/${login.slice(0, -'[bot]'.length)}` : `${SITE}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: isBot ? 'Bot' : 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}

/** Returns the main language of a repository; empty for other items. */
export function languageOf(post: SimPost): string {
  return post.kind === 'repository' ? pick(seededRandom('language', post.id), LANGUAGES) : '';
}

/** Returns the topics of a repository: the hashtags in its description. */
export function topicsOf({ text }: SimPost): string[] {
  return [...text.matchAll(/(?<=^|\s)#([\w-]+)/g)].map(([, topic = '']) => topic.toLowerCase());
}

/** Returns the creation time in ISO 8601, without fractions of a second. */
export function wholeSeconds({ publishedAt }: SimPost): string {
  return new Date(publishedAt).toISOString().replace(/\.\d+Z$/, 'Z');
}
