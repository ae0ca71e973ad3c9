import type { Criteria } from '#contracts';
import { merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { KEY_SETTING, QUOTAS, ask, type YoutubeSettings } from './ask.js';
import { lookUpComments } from './comments.js';
import { nextPageOf, parseSearchAnswer, parseVideos, videoIdsOf, type Details } from './parse.js';
import { faultsOf, isByDate, limitsOf, queriesOf } from './query.js';

const PAGE_SIZE = 50;
// Maximum number of pages that one read requests for each query: Google allows a hundred searches a day, and each page
// is one search.
const MAX_PAGES = 5;
// A new video can enter the search hours after its publication.
const INDEX_LAG_MS = 6 * 3_600_000;

/** YouTube with its Data API v3: new videos with details from `videos.list`, and comments of a video. */
export function createYoutubeConnector(settings: YoutubeSettings): SourceConnector {
  return {
    id: 'youtube',
    requiredSettings: [KEY_SETTING],
    filterKeys: ['channel_id', 'duration', 'lang'],
    commonGrid: false,
    hasSearch: true,
    // Google's limit per minute is much higher, but its limit per day is low.
    budget: { requestsPerMinute: 60, concurrency: 2, backoff: 'lane', quotas: QUOTAS },
    checkCriteria: faultsOf,
    // One request for a page, and one for the details of its videos.
    requestsPerSearch: (criteria) => 2 * queriesOf(criteria, 'word').length,
    search: (criteria, context) => search(criteria, context, settings),
    lookups: { videoComments: (question, context) => lookUpComments(question, context, settings) },
  };
}

async function search(
  criteria: Criteria,
  context: FetchContext,
  settings: YoutubeSettings,
): Promise<Fetched> {
  const reads: Fetched[] = [];
  for (const q of queriesOf(criteria, context.match)) {
    const query = { ...limitsOf(criteria), ...(q !== undefined && { q }) };
    reads.push(await readSearch({ query, byDate: isByDate(criteria), context, settings }));
  }
  return merged(reads);
}

interface SearchRead {
  query: Record<string, string>;
  byDate: boolean;
  context: FetchContext;
  settings: YoutubeSettings;
}

async function readSearch({ query, byDate, context, settings }: SearchRead): Promise<Fetched> {
  const { since } = context;
  const after = since && new Date(since.getTime() - INDEX_LAG_MS);
  const common = {
    part: 'snippet',
    type: 'video',
    maxResults: String(PAGE_SIZE),
    // YouTube accepts whole seconds only.
    ...(after && { publishedAfter: `${after.toISOString().slice(0, 19)}Z` }),
  };
  const read = async (pageToken?: string, emptyBefore = false): Promise<Page> => {
    const page = { ...common, ...query, ...(pageToken !== undefined && { pageToken }) };
    const answer = await ask(context, settings, { method: 'search', query: page });
    const details = await detailsOf(videoIdsOf(answer), context, settings);
    const { items, warnings } = parseSearchAnswer(answer, details);
    const next = nextPageOf(answer);
    const empty = items.length === 0;
    // An empty page can be followed by other pages. But two empty pages in a row count as the end, even if they contain
    // tokens of a next page.
    const last = next === undefined || next === pageToken || (empty && emptyBefore);
    return { items, warnings, next: last ? undefined : () => read(next, empty) };
  };
  return readPages(await read(), {
    known: (itemId) => byDate && context.known(itemId),
    since,
    until: byDate ? since?.toISOString() : undefined,
    pageCap: Math.min(context.pageCap, MAX_PAGES),
  });
}

/** Reads the details (`videos.list`) of the videos that are not known yet, with at most one request for each page. */
async function detailsOf(
  ids: readonly string[],
  context: FetchContext,
  settings: YoutubeSettings,
): Promise<Details> {
  const unseen = [...new Set(ids)].filter((id) => !context.known(id)).slice(0, PAGE_SIZE);
  if (unseen.length === 0) return new Map();
  const query = {
    part: 'snippet,contentDetails,statistics',
    id: unseen.join(','),
    maxResults: String(PAGE_SIZE),
  };
  return parseVideos(await ask(context, settings, { method: 'videos', query }));
}
