import type { Criteria } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { ask } from './ask.js';
import { parsePosts } from './parse.js';
import { PAGE_SIZE, POSTS_QUERY, faultsOf, topicsOf, variablesOf } from './request.js';
import type { ProducthuntSettings } from './sign-in.js';

export type { ProducthuntSettings } from './sign-in.js';

// The API filters posts by the time of their creation, but some posts become visible hours later.
const SHOWN_LATER_MS = 6 * 3_600_000;
// A high estimate: about 350 posts a day.
const POSTS_PER_SECOND = 0.004;
// The API has no search, so each search would read the whole feed. One read of the feed for all searches is always
// cheaper.
const MORE_THAN_THE_FEED = 1_000;

/** Product Hunt with its GraphQL API: the newest posts, matched by Earshot. */
export function createProducthuntConnector(settings: ProducthuntSettings): SourceConnector {
  const { token, clientId, clientSecret } = settings;
  const trimmed = { token: token.trim(), clientId: clientId.trim(), clientSecret: clientSecret.trim() };
  return {
    id: 'producthunt',
    // Either the token, or both other settings.
    requiredSettings: [
      ['SOURCE_PRODUCTHUNT_TOKEN', 'SOURCE_PRODUCTHUNT_CLIENT_ID and SOURCE_PRODUCTHUNT_CLIENT_SECRET'],
    ],
    filterKeys: ['topic'],
    commonGrid: true,
    hasSearch: false,
    // The API allows 6,250 points in 15 minutes. The cost of a page is unknown; the headers report when the points are
    // used up.
    budget: { requestsPerMinute: 10, concurrency: 1, backoff: 'lane' },
    checkCriteria: faultsOf,
    requestsPerSearch: (criteria) => topicsOf(criteria).length || MORE_THAN_THE_FEED,
    search: (criteria, context) => search(criteria, context, trimmed),
    feed: {
      pagesFor: (windowSeconds) => {
        const posts = (windowSeconds + SHOWN_LATER_MS / 1000) * POSTS_PER_SECOND;
        return Math.max(1, Math.ceil(posts / PAGE_SIZE));
      },
      read: (since, context) => readPosts(undefined, { ...context, since }, trimmed),
      serves: (criteria) => topicsOf(criteria).length === 0,
      // A high value, because there are fewer posts at weekends.
      quietSeconds: 48 * 3_600,
    },
  };
}

async function search(
  criteria: Criteria,
  context: FetchContext,
  settings: ProducthuntSettings,
): Promise<Fetched> {
  const topics = topicsOf(criteria);
  const reads: Fetched[] = [];
  for (const topic of topics.length > 0 ? topics : [undefined]) {
    reads.push(await readPosts(topic, context, settings));
  }
  return merged(reads);
}

async function readPosts(
  topic: string | undefined,
  context: FetchContext,
  settings: ProducthuntSettings,
): Promise<Fetched> {
  const { since, pageCap } = context;
  const first = variablesOf(topic, since && new Date(since.getTime() - SHOWN_LATER_MS));
  const read = async (after: string | null): Promise<Page> => {
    const variables = { ...first, after };
    const data = await context.shared(`producthunt ${JSON.stringify(variables)}`, () =>
      ask(context, settings, POSTS_QUERY, variables),
    );
    const { items, warnings, cursor } = parsePosts(data);
    const next = cursor === undefined || cursor === after ? undefined : () => read(cursor);
    return { items, warnings, next };
  };
  // The request contains the start time. A known post does not end the read, because older posts can have become
  // visible after the known post.
  return readPages(await read(null), { known: () => false, since, pageCap });
}
