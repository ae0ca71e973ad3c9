import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import { FEED_PAGES, merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { alternativesOf, faultsWithoutTerms } from '../shared/terms.js';
import { parseSearchAnswer } from './parse.js';
import { PAGE_SIZE, feedUrl, searchUrl, type Slice } from './request.js';

// Items are indexed with a delay, so items that are up to this much older than `since` can still be new.
const INDEX_LAG_SECONDS = 300;
// The site publishes about 0.16 items per second. The value is about twice as high because of busy hours.
const ITEMS_PER_SECOND = 0.3;

/** Hacker News with Algolia's search. Needs no settings. */
export function createHackernewsConnector(): SourceConnector {
  return {
    id: 'hackernews',
    requiredSettings: [],
    filterKeys: [],
    commonGrid: true,
    hasSearch: true,
    // Algolia allows 10,000 requests per hour and address. The budget is a little lower.
    budget: { requestsPerMinute: 150, concurrency: 4, backoff: 'lane' },
    checkCriteria: (criteria): Fault[] => faultsWithoutTerms('hackernews', criteria),
    requestsPerSearch: (criteria) => Math.max(1, alternativesOf(criteria).length),
    search,
    feed: {
      pagesFor: (windowSeconds) => {
        const items = (windowSeconds + INDEX_LAG_SECONDS) * ITEMS_PER_SECOND;
        const pages = Math.max(1, Math.ceil(items / PAGE_SIZE));
        return pages > FEED_PAGES ? Infinity : pages;
      },
      read: (since, context) => readSlices(context, since, feedUrl),
      // Even in the hours with the fewest posts, the site gets about 300 items an hour.
      quietSeconds: 3_600,
    },
  };
}

async function search(criteria: Criteria, context: FetchContext): Promise<Fetched> {
  const reads: Fetched[] = [];
  // Algolia combines words with AND and has no OR, so each term needs a request. The requests run one after another,
  // within the lane's budget.
  for (const phrases of alternativesOf(criteria)) {
    reads.push(await readSlices(context, context.since, (slice) => searchUrl(phrases, context.match, slice)));
  }
  return merged(reads);
}

/**
 * One query returns at most 1,000 items, and one page can contain all of them. So Earshot reads no second page: the
 * next request asks for items that are as old as the oldest item so far, or older.
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
    // If a full response has no new items, one second can have more items than one response can contain. The rest
    // cannot be read.
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
