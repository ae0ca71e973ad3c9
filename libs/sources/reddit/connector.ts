import type { Criteria } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import { UpstreamError, type FetchContext, type Fetched, type SourceConnector } from '../source.js';
import { alternativesOf } from '../shared/terms.js';
import { lookUpModerated } from './moderated.js';
import { parseListing } from './parse.js';
import { faultsOf, newestUrl, queriesOf, searchUrl, subredditsOf } from './request.js';
import { askSignedIn, type RedditSettings } from './sign-in.js';

export type { RedditSettings } from './sign-in.js';

// Posts enter the search index with a delay of some minutes.
const INDEX_LAG_MS = 600_000;
// On all of reddit, enough comments for one page are written every one or two seconds. So a gap is
// unavoidable, and more pages would hardly shorten it.
const PAGES_OF_ALL_COMMENTS = 3;

/** Reddit with its OAuth API: posts by search, comments from the listing of newest comments. */
export function createRedditConnector(settings: RedditSettings): SourceConnector {
  return {
    id: 'reddit',
    requiredSettings: ['SOURCE_REDDIT_CLIENT_ID', 'SOURCE_REDDIT_CLIENT_SECRET'],
    filterKeys: ['subreddit'],
    // The listing of all comments is read once for all searches that are due at the same time.
    commonGrid: true,
    hasSearch: true,
    // Reddit allows 100 requests a minute for one application, averaged over ten minutes. The budget is a little lower.
    budget: { requestsPerMinute: 90, concurrency: 4, backoff: 'lane' },
    checkCriteria: (criteria) => {
      const faults = faultsOf(criteria);
      if (alternativesOf(criteria).length === 0 && subredditsOf(criteria).length === 0) {
        faults.push({
          path: 'query',
          message: 'a search on reddit needs a query, terms or filters.subreddit',
        });
      }
      return faults;
    },
    requestsPerSearch: (criteria) => Math.max(1, queriesOf(criteria, 'word').length) + 1,
    search: (criteria, context) => search(criteria, context, settings),
    lookups: { moderated: (question, context) => lookUpModerated(question, context, settings) },
  };
}

async function search(criteria: Criteria, context: FetchContext, settings: RedditSettings): Promise<Fetched> {
  const subreddits = subredditsOf(criteria);
  const queries = queriesOf(criteria, context.match);
  const reads: Fetched[] = [];
  const read = (urlOf: (after?: string) => string, pageCap: number) =>
    readListing({ context, settings, urlOf, pageCap });

  for (const q of queries)
    reads.push(await read((after) => searchUrl(q, subreddits, after), context.pageCap));
  if (queries.length === 0) {
    reads.push(await read((after) => newestUrl('new', subreddits, after), context.pageCap));
  }
  // Reddit's search does not find comments, so they are read from the listing and matched by Earshot. In mode
  // `platform` Earshot does not match, so a search with words returns no comments.
  if (context.match !== 'platform' || queries.length === 0) {
    const all = subreddits.length === 0;
    const pageCap = all ? Math.min(PAGES_OF_ALL_COMMENTS, context.pageCap) : context.pageCap;
    reads.push(await read((after) => newestUrl('comments', subreddits, after), pageCap));
  }
  return merged(reads);
}

interface ListingRead {
  context: FetchContext;
  settings: RedditSettings;
  urlOf(after?: string): string;
  pageCap: number;
}

async function readListing({ context, settings, urlOf, pageCap }: ListingRead): Promise<Fetched> {
  const read = async (after?: string): Promise<Page> => {
    const url = urlOf(after);
    // Each page is shared, so that searches with different starts share their common pages.
    const listing = await context.shared(url, () => askListing(context, settings, url));
    const next = listing.after;
    return {
      items: listing.items,
      warnings: listing.warnings,
      next: next === undefined ? undefined : () => read(next),
    };
  };
  const { since } = context;
  return readPages(await read(), {
    known: (itemId) => context.known(itemId),
    since,
    until: since && new Date(since.getTime() - INDEX_LAG_MS).toISOString(),
    pageCap,
  });
}

async function askListing(context: FetchContext, settings: RedditSettings, url: string) {
  try {
    const { body } = await askSignedIn(context, settings, url);
    return parseListing(body);
  } catch (error) {
    if (error instanceof UpstreamError && error.statusCode === 302) {
      // For a subreddit that does not exist, reddit redirects to the search for subreddits.
      throw new UpstreamError(
        'not_found',
        'reddit answered 302: there is no such subreddit; check filters.subreddit',
        302,
      );
    }
    throw error;
  }
}
