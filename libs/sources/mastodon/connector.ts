import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort } from '../shared/filters.js';
import {
  hostOfSetting,
  instanceFaults,
  instancesOf,
  namedInstances,
  readInstances,
} from '../shared/instances.js';
import { FEED_PAGES, merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { alternativesOf, faultsWithoutTerms, quoted, quotedIfNeeded } from '../shared/terms.js';
import { PAGE_SIZE, TOKEN_SETTING, ask, type Instance } from './ask.js';
import { parseSearch } from './parse.js';
import { isLastPage, readTags, tagQueriesOf } from './tags.js';
import { PublicTimelines } from './timeline.js';

/** The operator's settings. Both can be empty. Then Earshot searches mastodon.social by hashtags. */
export interface MastodonSettings {
  /** The server to search. */
  instance: string;
  /** A token of an account on this server, with `read:search` and `read:statuses`. */
  token: string;
}

const DEFAULT_INSTANCE = 'mastodon.social';
// Statuses enter the full-text index minutes after they were written.
const INDEX_LAG_MS = 600_000;
// If the hashtag has this many posts and the word has none, the server probably has no full-text search.
const MIN_POSTS_FOR_WARNING = 10;

/** Mastodon: full-text search with a token, hashtags, and the public timelines of small instances. */
export function createMastodonConnector(settings: MastodonSettings): SourceConnector {
  const host = hostOfSetting('SOURCE_MASTODON_INSTANCE', settings.instance, DEFAULT_INSTANCE);
  const own: Instance = { host, token: settings.token.trim() || undefined, own: true };
  const reader: Reader = { own, timelines: new PublicTimelines() };
  return {
    id: 'mastodon',
    requiredSettings: [],
    filterKeys: ['instances'],
    namedServers: (criteria) => namedInstances(criteria, own.host),
    // Timelines are read once for all searches that are due at the same time.
    commonGrid: true,
    hasSearch: true,
    // Mastodon allows 300 requests in five minutes, per account and per address. The budget is a little lower.
    budget: { requestsPerMinute: 50, concurrency: 2, backoff: 'lane' },
    checkCriteria: (criteria) => faultsOf(criteria, own),
    requestsPerSearch: (criteria) => requestsOf(criteria, own),
    search: (criteria, context) => search(criteria, context, reader),
    ...(own.token !== undefined && { feed: feedOf(reader) }),
  };
}

interface Reader {
  own: Instance;
  timelines: PublicTimelines;
}

function feedOf({ own, timelines }: Reader): NonNullable<SourceConnector['feed']> {
  return {
    pagesFor: (windowSeconds) => {
      const pages = timelines.pagesFor(own.host, windowSeconds);
      return pages > FEED_PAGES ? Infinity : pages;
    },
    read: (since, context) => timelines.read(own, context, since.getTime()),
    serves: (criteria) => instancesOf(criteria).length === 0,
    // Only the timelines of small instances are read, and these can have no posts for a whole night.
    quietSeconds: 6 * 3_600,
  };
}

function faultsOf(criteria: Criteria, own: Instance): Fault[] {
  const faults = [
    ...instanceFaults(criteria, 'fosstodon.org'),
    ...faultsOfSort('mastodon', criteria, ['newest']),
    ...faultsWithoutTerms('mastodon', criteria),
  ];
  const isOwn = hostsOf(criteria, own).includes(own.host);
  const byTagsOnly = own.token === undefined || !isOwn;
  if (faults.length === 0 && byTagsOnly && tagQueriesOf(criteria, 'word').length === 0) {
    const reason = isOwn
      ? `without ${TOKEN_SETTING} mastodon is searched by hashtags`
      : 'the servers of filters.instances are searched by hashtags';
    faults.push({ path: 'query', message: `${reason}, and no word of this search can be a hashtag` });
  }
  return faults;
}

function requestsOf(criteria: Criteria, own: Instance): number {
  const perHost = tagQueriesOf(criteria, 'word').length;
  const hosts = hostsOf(criteria, own);
  const searches = own.token !== undefined && hosts.includes(own.host) ? alternativesOf(criteria).length : 0;
  return Math.max(1, hosts.length * perHost + searches);
}

function hostsOf(criteria: Criteria, own: Instance): string[] {
  const named = instancesOf(criteria);
  return named.length > 0 ? named : [own.host];
}

function search(criteria: Criteria, context: FetchContext, reader: Reader): Promise<Fetched> {
  const { own } = reader;
  const instances = { source: 'mastodon' as const, hosts: hostsOf(criteria, own), own: own.host, context };
  return readInstances(instances, (host, reading) => {
    const instance = host === own.host ? own : { host, token: undefined, own: false };
    return readInstance(criteria, reading, instance, reader);
  });
}

/**
 * The full-text search needs a token, and finds only posts of accounts that agreed to be found. Hashtags find public
 * posts of all accounts. So Earshot uses both, except in mode `platform`: there the full-text search is enough, if it
 * is available.
 */
async function readInstance(
  criteria: Criteria,
  context: FetchContext,
  instance: Instance,
  { timelines }: Reader,
): Promise<Fetched> {
  const { match, since } = context;
  const fullText = instance.token !== undefined;
  const found = fullText ? await readSearches(criteria, context, instance) : undefined;
  if (found && match === 'platform') return found;
  const until = since?.getTime();
  // At a first poll the timeline is not read, because its first pages cover only a short time and contain few matches.
  const wanted = match !== 'platform' && until !== undefined;
  const whole = wanted ? await timelines.readWhole(instance, context, until) : undefined;
  // The whole timeline contains all posts that hashtags would find.
  if (whole) return merged(found ? [found, whole] : [whole]);
  const tagged = await readTags(tagQueriesOf(criteria, match), instance, context, until);
  if (!found) return { ...tagged, warnings: [...tagged.warnings, tagsOnly(instance)] };
  const all = merged([found, tagged]);
  return { ...all, warnings: [...all.warnings, ...fullTextWarningsOf(criteria, found, tagged, instance)] };
}

function tagsOnly({ host, own }: Instance): string {
  return own
    ? `mastodon: without ${TOKEN_SETTING} only hashtags are searched`
    : `mastodon: on ${host} only hashtags are searched`;
}

// An instance returns an empty result if it has no full-text index, or if the index is down.
function fullTextWarningsOf(
  criteria: Criteria,
  found: Fetched,
  tagged: Fetched,
  { host }: Instance,
): string[] {
  if (found.items.length > 0 || tagged.items.length < MIN_POSTS_FOR_WARNING) return [];
  const singleWords = alternativesOf(criteria).every(
    ([word = '', ...more]) => more.length === 0 && !/\s/.test(word),
  );
  if (!singleWords) return [];
  return [
    `mastodon: the search of ${host} finds no posts, but its hashtags do; the server may have no full-text search`,
  ];
}

async function readSearches(criteria: Criteria, context: FetchContext, instance: Instance): Promise<Fetched> {
  const reads: Fetched[] = [];
  // The API combines words with AND and has no OR, so each term needs a request.
  for (const phrases of alternativesOf(criteria)) {
    reads.push(await readSearch(queryOf(phrases, context.match), context, instance));
  }
  return merged(reads);
}

function queryOf(phrases: readonly string[], match: MatchMode): string {
  switch (match) {
    case 'platform':
      return phrases.join(' ');
    case 'word':
      return phrases.map(quoted).join(' ');
    case 'contains':
      // Without quotes, other forms of a word are also found. This is the closest that Mastodon has to a substring
      // search.
      return phrases.map(quotedIfNeeded).join(' ');
  }
}

async function readSearch(q: string, context: FetchContext, instance: Instance): Promise<Fetched> {
  const { since, pageCap } = context;
  const until = since && since.getTime() - INDEX_LAG_MS;
  const read = async (offset: number): Promise<Page> => {
    const query = new URLSearchParams({
      q,
      type: 'statuses',
      limit: String(PAGE_SIZE),
      ...(offset > 0 && { offset: String(offset) }),
    });
    const { body } = await ask(context, instance, `/api/v2/search?${query}`);
    const page = parseSearch(body, { host: instance.host, now: context.now });
    // The server selects the posts of a page, and then removes hidden posts. So a short page is not always the last
    // one.
    const next = isLastPage(page, until) ? undefined : () => read(offset + PAGE_SIZE);
    return { items: page.items, warnings: page.warnings, next };
  };
  return readPages(await read(0), { known: (itemId) => context.known(itemId), since, pageCap });
}
