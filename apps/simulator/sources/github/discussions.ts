import type { SimPost } from '../../world/post.js';
import { GraphqlFault } from '../shared/graphql.js';
import type { GraphqlObject, Selection } from '../shared/graphql.js';
import {
  addressOf,
  isClosed,
  labelsOf,
  loginOf,
  nodeIdOf,
  numberOf,
  repositoryNameOf,
  userOf,
  wholeSeconds,
} from './items.js';
import { paragraphsHtml } from '../shared/markup.js';

/** Maximum number of results on a page, the same as in the search of the REST API. */
const MAX_PAGE_SIZE = 100;
const MAX_RESULTS = 1000;

/**
 * Returns one page of a search for discussions, by `first` and `after`.
 * @throws GraphqlFault with GitHub's text if `first` or `after` is not valid
 */
export function discussionPage(found: readonly SimPost[], args: Selection['args']): GraphqlObject {
  const { first, after } = args;
  const path = ['search'];
  if (typeof first !== 'number') {
    const message =
      'You must provide a `first` or `last` value to properly paginate the `search` connection.';
    throw new GraphqlFault(message, { type: 'MISSING_PAGINATION_BOUNDARIES', path });
  }
  if (first > MAX_PAGE_SIZE) {
    const message = `Requesting ${first} records on the \`search\` connection exceeds the \`first\` limit of 100 records.`;
    throw new GraphqlFault(message, { type: 'EXCESSIVE_PAGINATION', path });
  }
  const from = typeof after === 'string' ? placeOf(after) : 0;
  if (from === undefined) {
    const message = `\`${String(after)}\` does not appear to be a valid cursor.`;
    throw new GraphqlFault(message, { type: 'INVALID_CURSOR_ARGUMENTS', path });
  }
  const reachable = found.slice(0, MAX_RESULTS);
  const nodes = reachable.slice(from, from + first).map(discussionNode);
  const edges = nodes.map((node, i) => ({
    __typename: 'SearchResultItemEdge',
    cursor: cursorOf(from + i + 1),
    node,
  }));
  return {
    __typename: 'SearchResultItemConnection',
    discussionCount: found.length,
    edges,
    nodes,
    pageInfo: {
      __typename: 'PageInfo',
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: from + first < reachable.length,
      hasPreviousPage: from > 0,
    },
  };
}

function cursorOf(place: number): string {
  return Buffer.from(`cursor:${place}`).toString('base64');
}

function placeOf(cursor: string): number | undefined {
  const place = /^cursor:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
  return place === undefined ? undefined : Number(place);
}

function discussionNode(post: SimPost): GraphqlObject {
  const at = wholeSeconds(post);
  const fullName = repositoryNameOf(post);
  const [owner = '', name = ''] = fullName.split('/');
  return {
    __typename: 'Discussion',
    id: nodeIdOf(post),
    databaseId: post.number,
    number: numberOf(post),
    url: addressOf(post),
    resourcePath: addressOf(post).replace('https://github.com', ''),
    title: post.title,
    body: post.text,
    bodyText: post.text,
    bodyHTML: paragraphsHtml(post.text),
    createdAt: at,
    publishedAt: at,
    updatedAt: at,
    lastEditedAt: null,
    closed: isClosed(post),
    closedAt: isClosed(post) ? at : null,
    locked: false,
    isAnswered: false,
    answer: null,
    upvoteCount: 1 + (post.score % 5),
    author: actorOf(loginOf(post)),
    authorAssociation: 'NONE',
    category: {
      __typename: 'DiscussionCategory',
      name: 'Q&A',
      slug: 'q-a',
      emoji: ':pray:',
      isAnswerable: true,
    },
    repository: {
      __typename: 'Repository',
      name,
      nameWithOwner: fullName,
      url: `https://github.com/${fullName}`,
      owner: actorOf(owner),
    },
    labels: {
      __typename: 'LabelConnection',
      totalCount: labelsOf(post).length,
      nodes: labelsOf(post).map((label) => ({ __typename: 'Label', ...label })),
    },
    comments: { __typename: 'DiscussionCommentConnection', totalCount: post.score % 6, nodes: [] },
    reactions: { __typename: 'ReactionConnection', totalCount: post.score % 4, nodes: [] },
  };
}

function actorOf(login: string): GraphqlObject {
  const { type, html_url: url, avatar_url: avatarUrl } = userOf(login);
  return { __typename: type, login, url, avatarUrl };
}
