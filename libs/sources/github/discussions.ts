import {
  countOf,
  isoOfText,
  listOf,
  numberOf,
  readEntries,
  recordOf,
  textOf,
  unknownShape,
} from '../shared/shape.js';
import type { Reading } from '../shared/shape.js';
import { UpstreamError } from '../source.js';
import { githubItem, namesOf, plainText, type SearchPage } from './parse.js';

/** One page of a search for discussions. */
export interface DiscussionPage extends SearchPage {
  /** Cursor of the next page; absent on the last page. */
  cursor: string | undefined;
}

/** Only GraphQL can search discussions. */
export const DISCUSSIONS_QUERY = `query ($q: String!, $first: Int!, $after: String) {
  search(type: DISCUSSION, query: $q, first: $first, after: $after) {
    pageInfo { endCursor hasNextPage }
    nodes {
      ... on Discussion {
        id number url title bodyText createdAt updatedAt closed locked isAnswered upvoteCount
        author { login url __typename }
        category { name }
        repository { nameWithOwner }
        labels(first: 10) { nodes { name } }
        comments { totalCount }
        reactions { totalCount }
      }
    }
  }
}`;

/**
 * Reads a response to `DISCUSSIONS_QUERY`.
 * If the response has both results and errors, the page has a warning.
 * @throws UpstreamError with the first fault in the response if the response has faults but no results;
 *   `unknown_shape` if it has neither, or if no result can be read
 */
export function parseDiscussions(body: unknown): DiscussionPage {
  const answer = recordOf(body);
  const search = recordOf(recordOf(answer?.['data'])?.['search']);
  const errors = listOf(answer?.['errors']) ?? [];
  const nodes = listOf(search?.['nodes']);
  if (!search || !nodes)
    throw errors.length > 0 ? faultOf(errors) : unknownShape('github', 'a search with "nodes"');
  const pageInfo = recordOf(search['pageInfo']);
  const more = pageInfo?.['hasNextPage'] === true;
  const { items, warnings } = readEntries('github', nodes, readDiscussion);
  const partly =
    errors.length > 0 ? ['github: the search for discussions returned only a part of the results'] : [];
  return {
    items,
    warnings: [...warnings, ...partly],
    count: nodes.length,
    cursor: more ? textOf(pageInfo?.['endCursor']) : undefined,
  };
}

function faultOf([first]: readonly unknown[]): UpstreamError {
  const type = textOf(recordOf(first)?.['type']) ?? '';
  if (type === 'RATE_LIMITED') {
    return new UpstreamError(
      'rate_limited',
      'github answered 200 (RATE_LIMITED): the points of an hour are used up',
      200,
    );
  }
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') {
    const reason =
      'the token has no permission to read discussions; check SOURCE_GITHUB_TOKEN or remove discussion from filters.kinds';
    return new UpstreamError('forbidden', `github answered 200 (${type}): ${reason}`, 200);
  }
  const named = /^[A-Z_]{1,40}$/.test(type) ? ` (${type})` : '';
  return new UpstreamError(
    'unexpected_status',
    `github answered 200${named}: the search for discussions was not understood`,
    200,
  );
}

function readDiscussion(entry: unknown): Reading {
  const discussion = recordOf(entry);
  const [id, url, title] = ['id', 'url', 'title'].map((key) => textOf(discussion?.[key]));
  if (!discussion || id === undefined || url === undefined) return { malformed: 'no id and url' };
  if (title === undefined) return { malformed: 'no title' };
  const publishedAt = isoOfText(discussion['createdAt']);
  if (publishedAt === undefined) return { malformed: 'no createdAt' };
  const author = recordOf(discussion['author']);
  const login = textOf(author?.['login']);
  const [comments, reactions] = ['comments', 'reactions'].map((key) =>
    countOf(recordOf(discussion[key])?.['totalCount']),
  );
  const closed = discussion['closed'];
  return githubItem({
    id,
    url,
    publishedAt,
    kind: 'discussion',
    title,
    text: plainText(discussion['bodyText']),
    author: { login, url: textOf(author?.['url']), bot: author?.['__typename'] === 'Bot' },
    repository: textOf(recordOf(discussion['repository'])?.['nameWithOwner']),
    engagement: { likes: reactions, replies: comments },
    details: {
      number: numberOf(discussion['number']) ?? null,
      state: typeof closed === 'boolean' ? (closed ? 'closed' : 'open') : null,
      locked: typeof discussion['locked'] === 'boolean' ? discussion['locked'] : null,
      labels: namesOf(recordOf(discussion['labels'])?.['nodes']),
      comments: comments ?? null,
      reactions: reactions ?? null,
      updatedAt: isoOfText(discussion['updatedAt']) ?? null,
      category: textOf(recordOf(discussion['category'])?.['name']) ?? null,
      answered: typeof discussion['isAnswered'] === 'boolean' ? discussion['isAnswered'] : null,
      upvotes: countOf(discussion['upvoteCount']) ?? null,
    },
  });
}
