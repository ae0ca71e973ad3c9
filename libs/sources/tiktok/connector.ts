import type { Criteria } from '#contracts';
import { readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { QUOTAS, RefusedByTiktok, askVideos, type VideoPage } from './ask.js';
import { parseVideos } from './parse.js';
import { faultsOf, videoQueryOf, type VideoQuery } from './query.js';
import { SETTINGS, type TiktokSettings } from './sign-in.js';
import { daysOf, isTimeForAll, type Days } from './window.js';

/** TikTok with its Research API, which is available only to approved researchers. */
export function createTiktokConnector(settings: TiktokSettings): SourceConnector {
  return {
    id: 'tiktok',
    requiredSettings: SETTINGS,
    filterKeys: ['hashtag', 'region_code', 'username'],
    commonGrid: false,
    hasSearch: true,
    // TikTok documents no limit per minute; the limit per day is low.
    budget: { requestsPerMinute: 30, concurrency: 2, backoff: 'lane', quotas: QUOTAS },
    checkCriteria: faultsOf,
    requestsPerSearch: () => 1,
    search: (criteria, context) => search(criteria, context, settings),
  };
}

async function search(criteria: Criteria, context: FetchContext, settings: TiktokSettings): Promise<Fetched> {
  const { since, pageCap } = context;
  const days = daysOf(context);
  const query = videoQueryOf(criteria);
  const warnings: string[] = [];
  const first = await firstPage({ query, days, context, settings, warnings });
  const read = isTimeForAll(context)
    ? await readAll(first, context)
    : await readPages(first, {
        known: (itemId) => context.known(itemId),
        since,
        until: since?.toISOString(),
        pageCap,
      });
  if (days.missed) warnings.push('Earshot asks tiktok only for the last 30 days; older videos are missing');
  return { ...read, gap: read.gap || warnings.length > 0, warnings: [...read.warnings, ...warnings] };
}

/**
 * Reads all pages of the days, up to the page cap, because videos that were indexed late can be on pages with known
 * videos.
 */
async function readAll(first: Page, { since, pageCap, known }: FetchContext): Promise<Fetched> {
  const read = await readPages(first, { known: () => false, since, pageCap });
  const reachedBack = read.items.some(
    ({ itemId, publishedAt }) =>
      known(itemId) || (since && publishedAt !== undefined && publishedAt <= since.toISOString()),
  );
  if (!read.gap || !reachedBack) return read;
  // New videos were read completely, but late ones can be on unread pages.
  const warning = `tiktok: videos that entered its search late were searched on ${pageCap} pages only`;
  return { ...read, gap: false, warnings: [...read.warnings, warning] };
}

interface VideoRead {
  query: VideoQuery;
  days: Days;
  context: FetchContext;
  settings: TiktokSettings;
  /** Descriptions of the parts that could not be read. */
  warnings: string[];
}

async function firstPage({ query, days, context, settings, warnings }: VideoRead): Promise<Page> {
  const { startDate, endDate } = days;
  let startedAgain = false;
  const read = async (place?: VideoPage['place']): Promise<Page> => {
    try {
      const data = await askVideos(context, settings, { query, startDate, endDate, place });
      const { next, ...page } = parseVideos(data);
      if (!next) return page;
      if (next.cursor > (place?.cursor ?? 0)) return { ...page, next: () => read(next) };
      warnings.push('tiktok reported a further page without its cursor');
      return page;
    } catch (error) {
      // TikTok sometimes loses a cursor, and answers "Search Id … is invalid or expired" or "Invalid count or cursor".
      // Then the read begins again, once.
      const isLost = place && error instanceof RefusedByTiktok && error.code === 'invalid_params';
      if (!isLost || startedAgain) throw error;
      startedAgain = true;
      return read();
    }
  };
  return read();
}
