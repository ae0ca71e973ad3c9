import type { Criteria, MatchMode } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { alternativesOf, faultsWithoutTerms, quotedIfNeeded } from '../shared/terms.js';
import { parseSearchAnswer } from './parse.js';
import { askSignedIn, type BlueskySettings } from './sign-in.js';

export type { BlueskySettings } from './sign-in.js';

const PAGE_SIZE = 100;
// Posts enter the search index with a delay, so posts that are up to this much older than `since` can still be new.
const INDEX_LAG_MS = 300_000;

/** Bluesky with `app.bsky.feed.searchPosts` and an account. Without an account, the API returns only one page. */
export function createBlueskyConnector(settings: BlueskySettings): SourceConnector {
  return {
    id: 'bluesky',
    requiredSettings: ['SOURCE_BLUESKY_CLIENT_ID', 'SOURCE_BLUESKY_CLIENT_SECRET'],
    filterKeys: [],
    commonGrid: false,
    hasSearch: true,
    // Bluesky allows 600 requests a minute, but its staff ask users not to search in bulk.
    budget: { requestsPerMinute: 120, concurrency: 2, backoff: 'lane' },
    checkCriteria: (criteria) => faultsWithoutTerms('bluesky', criteria),
    requestsPerSearch: (criteria) => Math.max(1, alternativesOf(criteria).length),
    search: (criteria, context) => search(criteria, context, settings),
  };
}

async function search(
  criteria: Criteria,
  context: FetchContext,
  settings: BlueskySettings,
): Promise<Fetched> {
  const reads: Fetched[] = [];
  // "a OR b" finds posts with both, or nothing, so each term needs a request.
  for (const phrases of alternativesOf(criteria)) {
    reads.push(await readSearch(queryOf(phrases, context.match), context, settings));
  }
  return merged(reads);
}

function queryOf(phrases: readonly string[], match: MatchMode): string {
  return phrases.map((phrase) => (match === 'platform' ? phrase : quotedIfNeeded(phrase))).join(' ');
}

async function readSearch(q: string, context: FetchContext, settings: BlueskySettings): Promise<Fetched> {
  const { since } = context;
  const after = since && new Date(since.getTime() - INDEX_LAG_MS).toISOString();
  const read = async (cursor?: string): Promise<Page> => {
    const query = new URLSearchParams({
      q,
      sort: 'latest',
      limit: String(PAGE_SIZE),
      ...(after !== undefined && { since: after }),
      ...(cursor !== undefined && { cursor }),
    });
    const body = await askSignedIn(context, settings, 'app.bsky.feed.searchPosts', query);
    const answer = parseSearchAnswer(body);
    const next = answer.cursor;
    // An empty page is the last one, even if it has a cursor: this cursor would return the same page again.
    const last = next === undefined || next === cursor || answer.items.length === 0;
    return { items: answer.items, warnings: answer.warnings, next: last ? undefined : () => read(next) };
  };
  // The request contains the start time. The pages are not ordered by the date that authors claim, so this date must
  // not end the read.
  return readPages(await read(), {
    known: (itemId) => context.known(itemId),
    since,
    pageCap: context.pageCap,
  });
}
