import type { Criteria } from '#contracts';
import { merged } from '../shared/paging.js';
import {
  UpstreamError,
  type FetchContext,
  type Fetched,
  type Outage,
  type SourceConnector,
} from '../source.js';
import type { FeedAnswer } from './parse.js';
import { feedServers, feedUrlFaults, feedUrlsOf } from './feed-urls.js';
import { fetchFeed } from './fetch-feed.js';
import { outageOf } from './outages.js';

// If a feed with fewer entries than this has only new entries, it is probably a new feed and not a busy one.
const MIN_ENTRIES_OF_BUSY_FEED = 10;

/** Feeds: RSS, RDF, Atom and JSON Feed. Needs no settings; `filters.feed_urls` contains the addresses. */
export function createRssConnector(): SourceConnector {
  return {
    id: 'rss',
    requiredSettings: [],
    filterKeys: ['feed_urls'],
    commonGrid: true,
    hasSearch: false,
    budget: { requestsPerMinute: 6_000, concurrency: 16, backoff: 'search' },
    checkCriteria: feedUrlFaults,
    namedServers: feedServers,
    requestsPerSearch: (criteria) => Math.max(1, feedUrlsOf(criteria).length),
    search,
  };
}

async function search(criteria: Criteria, context: FetchContext): Promise<Fetched> {
  const feedUrls = feedUrlsOf(criteria);
  const results = await Promise.all(feedUrls.map((feedUrl) => resultOf(fetchFeed(feedUrl, context))));
  const answers = results.flatMap((result) => (result instanceof UpstreamError ? [] : [result]));
  const faults = results.flatMap((result) => (result instanceof UpstreamError ? [result] : []));
  const [fault] = faults;
  if (fault && answers.length === 0) throw faults.length === 1 ? fault : allFeedsFailedError(fault, faults);
  const reads = answers.map((answer) => ({ ...answer, gap: mayHaveMissedEntries(answer, context) }));
  const outages = outagesOf(feedUrls, results, context);
  return {
    ...merged([...reads, { items: [], gap: false, warnings: faults.map(({ message }) => message) }]),
    ...(outages.size > 0 && { outages }),
  };
}

function outagesOf(
  feedUrls: readonly string[],
  results: readonly (FeedAnswer | UpstreamError)[],
  context: FetchContext,
): Map<string, Outage> {
  const outages = new Map<string, Outage>();
  results.forEach((result, n) => {
    const answer = result instanceof UpstreamError ? undefined : result;
    const outage = outageOf(feedUrls[n] ?? '', answer !== undefined, context);
    if (outage) for (const { itemId } of answer?.items ?? []) outages.set(itemId, outage);
  });
  return outages;
}

function resultOf(fetching: Promise<FeedAnswer>): Promise<FeedAnswer | UpstreamError> {
  return fetching.catch((error: unknown) => {
    if (error instanceof UpstreamError) return error;
    throw error;
  });
}

function allFeedsFailedError(first: UpstreamError, faults: readonly UpstreamError[]): UpstreamError {
  const reasons = faults.map(({ message }) => message).join('; ');
  const waits = faults.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  return new UpstreamError(
    first.kind,
    `none of the ${faults.length} feeds could be read: ${reasons}`,
    first.statusCode,
    waits.length === 0 ? undefined : Math.max(...waits),
  );
}

// A feed has only one page. If even its oldest entry is new, other entries can have been added and removed between two
// reads.
function mayHaveMissedEntries({ items }: FeedAnswer, context: FetchContext): boolean {
  const { since } = context;
  if (!since || items.length < MIN_ENTRIES_OF_BUSY_FEED) return false;
  const before = since.toISOString();
  return items.every(
    ({ itemId, publishedAt }) => publishedAt !== undefined && publishedAt > before && !context.known(itemId),
  );
}
