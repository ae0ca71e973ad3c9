import type { Criteria } from '#contracts';
import { FEED_PAGES, merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { answerFilter } from './answer-filter.js';
import { QUOTA, addressOf, ask, nextReset, type ApiRequest } from './ask.js';
import { parseAnswers, parseQuestions, type PostPage } from './parse.js';
import {
  DEFAULT_SITE,
  PAGE_SIZE,
  faultsOf,
  fromOf,
  newestRequest,
  queriesOf,
  searchRequest,
  sitesOf,
  tagsOf,
  wantsAnswers,
} from './request.js';

/** The key can be empty. Then Stack Exchange allows 300 requests a day (10,000 with a key). */
export interface StackoverflowSettings {
  /** The key of an application (stackapps.com). It is not secret. */
  key: string;
}

const POINTS_WITH_KEY = 10_000;
const POINTS_WITHOUT_KEY = 300;
// New questions and answers appear with a delay.
const INDEX_LAG_SECONDS = 300;
// High estimates for Stack Overflow.
const QUESTIONS_PER_SECOND = 0.02;
const ANSWERS_PER_SECOND = 0.03;
const QUESTIONS_FILTER = 'withbody';

/**
 * Stack Overflow and the other sites of Stack Exchange. Questions come from a search, and answers from the list of the
 * newest answers. The shared feed reads both from the lists of the newest ones.
 */
export function createStackoverflowConnector(settings: StackoverflowSettings): SourceConnector {
  const key = settings.key.trim();
  return {
    id: 'stackoverflow',
    requiredSettings: [],
    filterKeys: ['site', 'tagged'],
    // The newest questions and answers are read once for all searches that are due at the same time.
    commonGrid: true,
    hasSearch: true,
    budget: {
      // Stack Exchange allows 30 requests a second, but the daily quota is much lower.
      requestsPerMinute: 60,
      concurrency: 2,
      backoff: 'lane',
      quotas: { [QUOTA]: { points: key === '' ? POINTS_WITHOUT_KEY : POINTS_WITH_KEY, nextReset } },
    },
    checkCriteria: faultsOf,
    requestsPerSearch: (criteria) => {
      const perSite = Math.max(1, queriesOf(criteria).length) + 1;
      return sitesOf(criteria).length * perSite;
    },
    search: (criteria, context) => search(criteria, context, key),
    feed: {
      pagesFor: (windowSeconds) => {
        const seconds = windowSeconds + INDEX_LAG_SECONDS;
        const pagesOf = (perSecond: number) => {
          const pages = Math.max(1, Math.ceil((seconds * perSecond) / PAGE_SIZE));
          return pages > FEED_PAGES ? Infinity : pages;
        };
        return pagesOf(QUESTIONS_PER_SECOND) + pagesOf(ANSWERS_PER_SECOND);
      },
      read: (since, context) => readFeed({ ...context, since }, key),
      serves: (criteria) =>
        tagsOf(criteria).length === 0 && sitesOf(criteria).every((site) => site === DEFAULT_SITE),
      // Normally there are new questions and answers every hour. After 6 hours without any, the feed counts as frozen.
      quietSeconds: 6 * 3_600,
    },
  };
}

async function search(criteria: Criteria, context: FetchContext, key: string): Promise<Fetched> {
  const tags = tagsOf(criteria);
  const queries = queriesOf(criteria);
  const from = fromOf(context.since, INDEX_LAG_SECONDS);
  const reads: Fetched[] = [];
  for (const site of sitesOf(criteria)) {
    for (const q of queries.length > 0 ? queries : [undefined]) {
      reads.push(
        await readListing(context, key, (page) => ({
          request: searchRequest(q, tags, { site, from, page, filter: QUESTIONS_FILTER }),
          parse: (body) => parseQuestions(body, site),
        })),
      );
    }
    if (wantsAnswers(criteria, context.match)) reads.push(await readAnswers(context, key, site, tags));
  }
  return merged(reads);
}

async function readFeed(context: FetchContext, key: string): Promise<Fetched> {
  const from = fromOf(context.since, INDEX_LAG_SECONDS);
  const site = DEFAULT_SITE;
  const questions = await readListing(context, key, (page) => ({
    request: newestRequest('questions', { site, from, page, filter: QUESTIONS_FILTER }),
    parse: (body) => parseQuestions(body, site),
  }));
  return merged([questions, await readAnswers(context, key, site, [])]);
}

async function readAnswers(
  context: FetchContext,
  key: string,
  site: string,
  tags: readonly string[],
): Promise<Fetched> {
  const filter = await answerFilter(context, key);
  const from = fromOf(context.since, INDEX_LAG_SECONDS);
  return readListing(context, key, (page) => ({
    request: newestRequest('answers', { site, from, page, filter }),
    parse: (body) => parseAnswers(body, site, tags),
  }));
}

interface Listing {
  request: ApiRequest;
  parse(body: unknown): PostPage;
}

async function readListing(
  context: FetchContext,
  key: string,
  listingOf: (page: number) => Listing,
): Promise<Fetched> {
  const read = async (number: number): Promise<Page> => {
    const { request, parse } = listingOf(number);
    const body = await context.shared(addressOf('', request), () => ask(context, key, request));
    const { items, warnings, hasMore } = parse(body);
    return { items, warnings, next: hasMore ? () => read(number + 1) : undefined };
  };
  return readPages(await read(1), {
    known: (itemId) => context.known(itemId),
    since: context.since,
    pageCap: context.pageCap,
  });
}
