import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, faultsOfTexts, filterTexts } from '../shared/filters.js';
import { alternativesOf } from '../shared/terms.js';

/** Posts of one page: the API's maximum, even if a request asks for more. */
export const PAGE_SIZE = 20;

/** The newest posts, by creation. */
export const POSTS_QUERY = `query ($first: Int!, $after: String, $postedAfter: DateTime, $topic: String) {
  posts(order: NEWEST, first: $first, after: $after, postedAfter: $postedAfter, topic: $topic) {
    pageInfo { endCursor hasNextPage }
    edges {
      node {
        id slug name tagline description url website createdAt featuredAt
        votesCount commentsCount reviewsRating
        user { id name username url }
        thumbnail { type url videoUrl }
        media { type url videoUrl }
        topics(first: 10) { edges { node { name slug } } }
      }
    }
  }
}`;

const MAX_TOPICS = 5;
// The start time is rounded down to this step. So searches that are due together share a request, even if their starts
// differ slightly.
const SHARED_STEP_MS = 600_000;

/** Returns the topics of a search (`filters.topic`), as written in their addresses. */
export function topicsOf(criteria: Criteria): string[] {
  return [...new Set(filterTexts(criteria, 'topic').map((text) => text.toLowerCase()))];
}

/** Returns a fault for each part of the criteria that Product Hunt does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...faultsOfTexts(criteria, {
      key: 'topic',
      wanted: 'a topic as written in its address, such as "developer-tools", or a list of them',
      valid: (text) => /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(text),
      max: MAX_TOPICS,
    }),
    ...faultsOfSort('producthunt', criteria, ['newest']),
  ];
  if (alternativesOf(criteria).length === 0 && topicsOf(criteria).length === 0) {
    faults.push({ path: 'query', message: 'a search on producthunt needs a query, terms or filters.topic' });
  }
  return faults;
}

/** The variables of `POSTS_QUERY`. */
export interface PostVariables extends Record<string, unknown> {
  first: number;
  after: string | null;
  postedAfter: string | null;
  topic: string | null;
}

/**
 * Returns the variables for the newest posts. With `createdAfter`, only for posts that were created after this time.
 */
export function variablesOf(topic: string | undefined, createdAfter: Date | undefined): PostVariables {
  const ms = createdAfter && Math.floor(createdAfter.getTime() / SHARED_STEP_MS) * SHARED_STEP_MS;
  return {
    first: PAGE_SIZE,
    after: null,
    postedAfter: ms === undefined ? null : new Date(ms).toISOString(),
    topic: topic ?? null,
  };
}
