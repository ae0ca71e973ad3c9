import type { Criteria } from '#contracts';
import { hostOfSetting, instancesOf, namedInstances, readInstances } from '../shared/instances.js';
import { FEED_PAGES, merged, readPages, type Page } from '../shared/paging.js';
import type { FetchContext, Fetched, SourceConnector } from '../source.js';
import { ask, type Instance } from './ask.js';
import { parseList, parseSearch, type ResponseOrigin, type LemmyPage, type Part } from './parse.js';
import {
  PAGE_SIZE,
  communitiesOf,
  faultsOf,
  newestPath,
  queriesOf,
  searchPath,
  type PageMark,
} from './request.js';
import { siteOf, type Site } from './site.js';

/** The operator's settings. Both can be empty. Then Earshot reads lemmy.world without an account. */
export interface LemmySettings {
  /** The server to search. */
  instance: string;
  /** A JWT of an account on this server. Some servers require a JWT. */
  token: string;
}

const DEFAULT_INSTANCE = 'lemmy.world';
// Posts and comments reach other servers with a delay, but keep the time at which they were written.
const FEDERATION_LAG_MS = 300_000;
// An estimate of what a large server receives from all others: a million comments a month, and a quarter as many posts.
const POSTS_PER_SECOND = 0.1;
const COMMENTS_PER_SECOND = 0.4;
// Servers limit searches more strictly than lists. So in the comparison with the feed, each search counts as two
// requests.
const SEARCH_WEIGHT = 2;

/** Lemmy: posts and comments, from the search or from the lists of the newest posts and comments. */
export function createLemmyConnector(settings: LemmySettings): SourceConnector {
  const host = hostOfSetting('SOURCE_LEMMY_INSTANCE', settings.instance, DEFAULT_INSTANCE);
  const own: Instance = { host, token: settings.token.trim() || undefined, own: true };
  return {
    id: 'lemmy',
    requiredSettings: [],
    filterKeys: ['community', 'instances'],
    namedServers: (criteria) => namedInstances(criteria, own.host),
    // The lists of newest posts and comments are read once for all searches that are due at the same time.
    commonGrid: true,
    hasSearch: true,
    // The server allows a burst of 60 searches, and six more each minute. So Earshot can send ten searches a minute for
    // a quarter of an hour. For lists, the server allows 180 requests a minute.
    budget: { requestsPerMinute: 10, concurrency: 2, backoff: 'lane' },
    checkCriteria: faultsOf,
    requestsPerSearch: (criteria) => requestsOf(criteria),
    search: (criteria, context) => search(criteria, context, own),
    feed: {
      pagesFor,
      read: async (since, context) => {
        const reading = { context, instance: own, site: await siteOf(context, own), until: until(since) };
        return readNewest(reading, undefined);
      },
      serves: (criteria) => instancesOf(criteria).length === 0 && communitiesOf(criteria).length === 0,
      // Small servers can have no posts for a whole night.
      quietSeconds: 6 * 3_600,
    },
  };
}

function pagesFor(windowSeconds: number): number {
  const seconds = windowSeconds + FEDERATION_LAG_MS / 1000;
  const pagesOf = (perSecond: number) => Math.max(1, Math.ceil((seconds * perSecond) / PAGE_SIZE));
  const comments = pagesOf(COMMENTS_PER_SECOND);
  return comments > FEED_PAGES ? Infinity : pagesOf(POSTS_PER_SECOND) + comments;
}

interface Reading {
  context: FetchContext;
  instance: Instance;
  site: Site;
  /** ISO 8601: older posts and comments are not needed. */
  until: string | undefined;
}

function requestsOf(criteria: Criteria): number {
  const places = Math.max(1, instancesOf(criteria).length) * Math.max(1, communitiesOf(criteria).length);
  // Without words, each community needs two requests: one for posts and one for comments.
  return places * (queriesOf(criteria, 'word').length * SEARCH_WEIGHT || 2);
}

function search(criteria: Criteria, context: FetchContext, own: Instance): Promise<Fetched> {
  const named = instancesOf(criteria);
  const hosts = named.length > 0 ? named : [own.host];
  return readInstances({ source: 'lemmy', hosts, own: own.host, context }, async (host, reading) => {
    const instance = host === own.host ? own : { host, token: undefined, own: false };
    const site = await siteOf(reading, instance);
    return readInstance(criteria, { context: reading, instance, site, until: until(reading.since) });
  });
}

async function readInstance(criteria: Criteria, reading: Reading): Promise<Fetched> {
  const queries = queriesOf(criteria, reading.context.match);
  const communities = communitiesOf(criteria);
  const reads: Fetched[] = [];
  for (const community of communities.length > 0 ? communities : [undefined]) {
    for (const q of queries) {
      reads.push(
        await readThings(
          reading,
          community,
          (mark) => searchPath(reading.site, q, community, mark),
          parseSearch,
        ),
      );
    }
    if (queries.length === 0) reads.push(await readNewest(reading, community));
  }
  return merged(reads);
}

async function readNewest(reading: Reading, community: string | undefined): Promise<Fetched> {
  const reads: Fetched[] = [];
  for (const what of ['post', 'comment'] as const) {
    reads.push(
      await readThings(
        reading,
        community,
        (mark) => newestPath(reading.site, what, community, mark),
        (body, origin) => parseList(body, what, origin),
      ),
    );
  }
  return merged(reads);
}

async function readThings(
  reading: Reading,
  community: string | undefined,
  pathOf: (mark: PageMark) => string,
  parse: (body: unknown, origin: ResponseOrigin) => LemmyPage,
): Promise<Fetched> {
  const { context, instance, site } = reading;
  const origin: ResponseOrigin = { host: instance.host, site, now: context.now };
  const read = async (mark: PageMark): Promise<Page> => {
    const page = parse(await ask(context, instance, pathOf(mark)), origin);
    const next = nextMark(page, mark, reading);
    return {
      items: page.items.filter((item) => isOf(item.community, community, instance)),
      warnings: page.warnings,
      next: next && (() => read(next)),
    };
  };
  const { since, pageCap } = context;
  // `nextMark` decides separately for posts and comments where to stop.
  return readPages(await read({ page: 1 }), { known: () => false, since, pageCap });
}

function nextMark({ parts, cursor }: LemmyPage, mark: PageMark, reading: Reading): PageMark | undefined {
  if (parts.every((part) => isLast(part, reading))) return undefined;
  if (reading.site.api === 'v4') return cursor === undefined ? undefined : { page: mark.page + 1, cursor };
  return { page: mark.page + 1, cursor };
}

// Posts and comments have separate pages, even in one response. A known comment does not mean that the posts on the
// page are known.
function isLast({ count, itemIds, oldest }: Part, { context, site, until }: Reading): boolean {
  // A page of v4 contains both kinds, so one kind can have fewer entries than the page size.
  if (count === 0 || (site.api === 'v3' && count < PAGE_SIZE)) return true;
  if (until !== undefined && oldest !== undefined && oldest <= until) return true;
  return itemIds.some((itemId) => context.known(itemId));
}

/**
 * True if an item belongs to the wanted community. A server that does not know the community returns items of all
 * communities.
 */
function isOf(found: string | undefined, wanted: string | undefined, { host }: Instance): boolean {
  if (wanted === undefined) return true;
  return found?.toLowerCase() === (wanted.includes('@') ? wanted : `${wanted}@${host}`);
}

function until(since: Date | undefined): string | undefined {
  return since && new Date(since.getTime() - FEDERATION_LAG_MS).toISOString();
}
