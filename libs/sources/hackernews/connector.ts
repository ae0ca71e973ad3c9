import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { alternativesOf, faultsWithoutTerms } from '../shared/terms.js';
import { parseSearchAnswer } from './parse.js';
import { PAGE_SIZE, feedUrl, searchUrl, type Slice } from './request.js';

// An item is indexed a little after it was created: what is older than `since` by less may still be new.
const INDEX_LAG_SECONDS = 300;
// The site publishes some 0.16 items a second; twice that, so that a busy hour needs no second thought.
const ITEMS_PER_SECOND = 0.3;

/** Hacker News by Algolia's search. Needs no settings. */
export function createHackernewsConnector(): SourceConnector {
  return {
    id: 'hackernews',
    requiredSettings: [],
    filterKeys: [],
    commonGrid: true,
    hasSearch: true,
    // 10,000 requests an hour and address, less a margin.
    budget: { requestsPerMinute: 150, concurrency: 4, backoff: 'lane' },
    checkCriteria: (criteria): Fault[] => faultsWithoutTerms('hackernews', criteria),
    requestsPerSearch: (criteria) => Math.max(1, alternativesOf(criteria).length),
    search,
    feed: {
      pagesFor: (windowSeconds) =>
        Math.max(1, Math.ceil(((windowSeconds + INDEX_LAG_SECONDS) * ITEMS_PER_SECOND) / PAGE_SIZE)),
      read: (since, context) => readSlices(context, since, feedUrl),
      // Its quietest hours still bring some 300 items each.
      quietSeconds: 3_600,
    },
  };
}

async function search(criteria: Criteria, context: FetchContext): Promise<Fetched> {
  const reads: Fetched[] = [];
  // Algolia ANDs words and has no OR: one request for each term. One after the other, as the lane's budget allows.
  for (const phrases of alternativesOf(criteria)) {
    reads.push(await readSlices(context, context.since, (slice) => searchUrl(phrases, context.match, slice)));
  }
  return merged(reads);
}

/**
 * One query gives 1,000 items at most, on however many pages. So there is no second page: the next request
 * asks anew for what was created up to the oldest item so far.
 */
async function readSlices(
  context: FetchContext,
  since: Date | undefined,
  urlOf: (slice: Slice) => string,
): Promise<Fetched> {
  const after = since && Math.floor(since.getTime() / 1000) - INDEX_LAG_SECONDS;
  const seen = new Set<string>();
  let missed = false;

  const read = async (slice: Slice): Promise<Page> => {
    const { body } = await context.http.json({ url: urlOf(slice) });
    const answer = parseSearchAnswer(body);
    const fresh = answer.items.filter((item) => !seen.has(item.itemId));
    for (const item of fresh) seen.add(item.itemId);
    const { oldestSeconds } = answer;
    const full = answer.hitCount >= PAGE_SIZE;
    // A full slice without anything fresh is one second with more items than fit: there is no way past it.
    missed ||= answer.pastCap || (full && fresh.length === 0);
    const more = full && fresh.length > 0 && oldestSeconds !== undefined;
    return {
      items: fresh,
      warnings: answer.warnings,
      next: more ? () => read({ after: slice.after, upTo: oldestSeconds }) : undefined,
    };
  };

  const known = (itemId: string) => context.known(itemId);
  const fetched = await readPages(await read({ after }), { known, since, pageCap: context.pageCap });
  return { ...fetched, gap: fetched.gap || missed };
}
