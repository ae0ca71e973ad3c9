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
import type { Kind } from './query.js';

/** One page of a search. */
export interface SearchPage {
  items: SourceItem[];
  warnings: string[];
  /** Number of entries on the page, including those that could not be read. */
  count: number;
}

const SITE = 'https://github.com';
const RAN_OUT = 'github: the search ran out of time; some results may be missing';

/**
 * Reads a response of `/search/issues`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseIssues(body: unknown): SearchPage {
  return pageOf(body, readIssue);
}

/**
 * Reads a response of `/search/repositories`.
 * @throws UpstreamError `unknown_shape`
 */
export function parseRepositories(body: unknown): SearchPage {
  return pageOf(body, readRepository);
}

function pageOf(body: unknown, read: (entry: unknown) => Reading): SearchPage {
  const answer = recordOf(body);
  const entries = listOf(answer?.['items']);
  if (!answer || !entries) throw unknownShape('github', 'an object with a list "items"');
  const { items, warnings } = readEntries('github', entries, read);
  const ranOut = answer['incomplete_results'] === true ? [RAN_OUT] : [];
  return { items, warnings: [...warnings, ...ranOut], count: entries.length };
}

function readIssue(entry: unknown): Reading {
  const issue = recordOf(entry) ?? {};
  const pull = recordOf(issue['pull_request']);
  // In responses of 2012, issues also have this key, with empty values.
  const kind: Kind = (textOf(pull?.['html_url']) ?? textOf(pull?.['url'])) ? 'pull_request' : 'issue';
  const common = commonOf(issue, kind);
  if (typeof common === 'string') return { malformed: common };
  const title = textOf(issue['title'])?.trim();
  if (title === undefined) return { malformed: 'no title' };
  const reactions = countOf(recordOf(issue['reactions'])?.['total_count']);
  const comments = countOf(issue['comments']);
  const author = authorOf(recordOf(issue['user']));
  return githubItem({
    ...common,
    kind,
    title,
    text: plainText(issue['body']),
    author,
    repository: repositoryOf(issue, common.url),
    engagement: { likes: reactions, replies: comments },
    details: {
      number: numberOf(issue['number']) ?? null,
      state: textOf(issue['state']) ?? null,
      stateReason: textOf(issue['state_reason']) ?? null,
      draft: booleanOf(issue['draft']),
      locked: booleanOf(issue['locked']),
      labels: namesOf(issue['labels']),
      comments: comments ?? null,
      reactions: reactions ?? null,
      authorAssociation: textOf(issue['author_association']) ?? null,
      closedAt: isoOfText(issue['closed_at']) ?? null,
      mergedAt: isoOfText(pull?.['merged_at']) ?? null,
      updatedAt: isoOfText(issue['updated_at']) ?? null,
    },
  });
}

function readRepository(entry: unknown): Reading {
  const repository = recordOf(entry) ?? {};
  const common = commonOf(repository, 'repository');
  if (typeof common === 'string') return { malformed: common };
  const name = textOf(repository['full_name']);
  if (name === undefined) return { malformed: 'no full_name' };
  const [stars, forks] = ['stargazers_count', 'forks_count'].map((count) => countOf(repository[count]));
  return githubItem({
    ...common,
    kind: 'repository',
    title: name,
    text: plainText(repository['description']),
    author: authorOf(recordOf(repository['owner'])),
    repository: name,
    engagement: { likes: stars, shares: forks },
    details: {
      language: textOf(repository['language']) ?? null,
      topics: (listOf(repository['topics']) ?? []).flatMap((topic) => textOf(topic) ?? []),
      homepage: textOf(repository['homepage']) ?? null,
      license: textOf(recordOf(repository['license'])?.['spdx_id']) ?? null,
      fork: booleanOf(repository['fork']),
      archived: booleanOf(repository['archived']),
      stars: stars ?? null,
      forks: forks ?? null,
      openIssues: countOf(repository['open_issues_count']) ?? null,
      pushedAt: isoOfText(repository['pushed_at']) ?? null,
      updatedAt: isoOfText(repository['updated_at']) ?? null,
    },
  });
}

/** The author of an entry. */
export interface Author {
  login: string | undefined;
  url: string | undefined;
  bot: boolean;
}

/** An issue, pull request, discussion or repository before it becomes an item. */
export interface GithubEntry {
  id: string;
  url: string;
  publishedAt: string;
  kind: Kind;
  title: string;
  text: string;
  author: Author;
  /** `owner/name`. */
  repository: string | undefined;
  engagement: { likes?: number | undefined; replies?: number | undefined; shares?: number | undefined };
  /** More fields of the item's body. They depend on the kind. */
  details: Record<string, unknown>;
}

// The bodies of all kinds have the same keys, so that users need not distinguish kinds.
const DETAILS = {
  number: null,
  state: null,
  stateReason: null,
  draft: null,
  locked: null,
  labels: [],
  comments: null,
  reactions: null,
  authorAssociation: null,
  closedAt: null,
  mergedAt: null,
  updatedAt: null,
  language: null,
  topics: [],
  homepage: null,
  license: null,
  fork: null,
  archived: null,
  stars: null,
  forks: null,
  openIssues: null,
  pushedAt: null,
  category: null,
  answered: null,
  upvotes: null,
};

/** Makes the item from an entry. */
export function githubItem({ details, author, repository, ...entry }: GithubEntry): Reading {
  const { id, kind, url, title, text, publishedAt, engagement } = entry;
  const item: SourceItem = buildItem('github', {
    itemId: id,
    eventType: 'github_item.created',
    kind,
    url,
    title,
    text,
    author: author.login,
    authorUrl: author.url,
    community: repository,
    publishedAt,
    engagement,
    body: {
      id,
      kind,
      title,
      text,
      repository: repository ?? null,
      authorUrl: author.url ?? null,
      bot: author.bot,
      ...DETAILS,
      ...details,
    },
  });
  return { item };
}

/** Returns a text with uniform line ends, trimmed, with its Markdown unchanged; empty for any other value. */
export function plainText(value: unknown): string {
  return (textOf(value) ?? '').replace(/\r\n?/g, '\n').trim();
}

/** Returns the fields that all entries have, or a text with the name of a missing field. */
function commonOf(entry: JsonRecord, kind: Kind): { id: string; url: string; publishedAt: string } | string {
  // Responses from before 2018 have no node_id.
  const number = numberOf(entry['id']);
  const id = textOf(entry['node_id']) ?? (number === undefined ? undefined : `${kind}:${number}`);
  if (id === undefined) return 'no node_id';
  const url = textOf(entry['html_url']);
  if (url === undefined) return 'no html_url';
  const publishedAt = isoOfText(entry['created_at']);
  return publishedAt === undefined ? 'no created_at' : { id, url, publishedAt };
}

// GitHub sends the login "ghost" or null for a deleted account.
function authorOf(user: JsonRecord | undefined): Author {
  const login = textOf(user?.['login']);
  const known = login === 'ghost' ? undefined : login;
  return {
    login: known,
    url: known === undefined ? undefined : (textOf(user?.['html_url']) ?? `${SITE}/${known}`),
    bot: user?.['type'] === 'Bot',
  };
}

function repositoryOf(issue: JsonRecord, url: string): string | undefined {
  const address = textOf(issue['repository_url']) ?? url;
  return /(?:\/repos|\/github\.com)\/([^/]+\/[^/]+)/.exec(address)?.[1];
}

/** Returns the names of labels. Labels are texts, or objects with a name. */
export function namesOf(value: unknown): string[] {
  return (listOf(value) ?? []).flatMap((entry) => textOf(entry) ?? textOf(recordOf(entry)?.['name']) ?? []);
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}
