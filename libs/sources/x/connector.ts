import type { Criteria } from '#contracts';
import { matchModeOf } from '#criteria';
import { merged, readPages, type Page } from '../shared/paging.js';
import { recordOf, textOf } from '../shared/shape.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { TOKEN_SETTING, ask, type XSettings } from './ask.js';
import { createLookups } from './lookups.js';
import { parseSearchAnswer } from './parse.js';
import { faultsOf, isByRelevancy, queriesOf } from './query.js';
import { PAGE_SIZE, searchUrl, type SearchStart } from './request.js';
import { newerThan, startOf } from './search-start.js';

/** The key of the connector's state for a search: the newest tweet of each of its queries. */
const STATE_KEY = 'newestIds';

/** X with its API v2: the tweets of the last seven days, and lookups of tweets and accounts. */
export function createXConnector(settings: XSettings): SourceConnector {
  return {
    id: 'x',
    requiredSettings: [TOKEN_SETTING],
    filterKeys: ['from', 'exclude', 'has', 'lang', 'verified'],
    commonGrid: false,
    itemsPerFirstScan: (criteria) => PAGE_SIZE * queriesOf(criteria, matchModeOf(criteria)).length,
    hasSearch: true,
    // X allows 450 searches in 15 minutes.
    budget: { requestsPerMinute: 30, concurrency: 2, backoff: 'lane' },
    checkCriteria: faultsOf,
    requestsPerSearch: (criteria) => Math.max(1, queriesOf(criteria, 'word').length),
    search: (criteria, context) => search(criteria, context, settings),
    lookups: createLookups(settings),
    // X allows at least 300 requests in 15 minutes for each endpoint. The headers report when a window is used up.
    lookupsApart: { requestsPerMinute: 20, burst: 60 },
  };
}

async function search(criteria: Criteria, context: FetchContext, settings: XSettings): Promise<Fetched> {
  const remembered = recordOf(context.state[STATE_KEY]) ?? {};
  const newestIds: Record<string, string> = {};
  const byRelevancy = isByRelevancy(criteria);
  const reads: Fetched[] = [];
  for (const query of queriesOf(criteria, context.match)) {
    const newestId = textOf(remembered[query]);
    const { start, warnings } = startOf(context, newestId);
    const { fetched, newest } = await readQuery({ query, start, byRelevancy, context, settings });
    const newer = newerThan(newestId, newest);
    if (newer !== undefined) newestIds[query] = newer;
    reads.push({
      ...fetched,
      gap: fetched.gap || warnings.length > 0,
      warnings: [...fetched.warnings, ...warnings],
    });
  }
  context.state[STATE_KEY] = newestIds;
  return merged(reads);
}

interface QueryRead {
  query: string;
  start: SearchStart;
  byRelevancy: boolean;
  context: FetchContext;
  settings: XSettings;
}

async function readQuery({ query, start, byRelevancy, context, settings }: QueryRead) {
  const edited = new Set<string>();
  let newest: string | undefined;
  const read = async (nextToken?: string): Promise<Page> => {
    const url = searchUrl({ query, start, byRelevancy, nextToken });
    const answer = parseSearchAnswer(await ask(context, settings, url));
    for (const itemId of answer.editedItemIds) edited.add(itemId);
    // `newest` is the newest tweet of the first page. In the order of time, the tweets of the other pages are older. In
    // the order of relevancy, they can be newer, and then the next read finds them again.
    if (nextToken === undefined) newest = answer.newestId;
    const next = answer.nextToken;
    const last = next === undefined || next === nextToken;
    return { items: answer.items, warnings: answer.warnings, next: last ? undefined : () => read(next) };
  };
  const fetched = await readPages(await read(), {
    // An edited tweet can appear among newer tweets. With the order by relevancy, known tweets can appear anywhere. In
    // these cases a known tweet must not end the read.
    known: (itemId) => !byRelevancy && !edited.has(itemId) && context.known(itemId),
    since: context.since,
    pageCap: context.pageCap,
  });
  return { fetched, newest };
}
