import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, faultsOfTexts, filterTexts } from '../shared/filters.js';
import { alternativesOf } from '../shared/terms.js';
import type { ApiRequest } from './ask.js';

/** Questions or answers on one page: the API's maximum. */
export const PAGE_SIZE = 100;
/** The default site of a search. */
export const DEFAULT_SITE = 'stackoverflow';

const MAX_SITES = 5;
const MAX_TAGS = 5;
const SITE = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const TAG = /^[\p{L}\p{N}.#+_-]{1,35}$/u;
// The start time is rounded down to this step. So searches that are due together share a request, even if their starts
// differ slightly.
const SHARED_STEP_SECONDS = 600;

/** Returns the sites of a search (`filters.site`), with the API's names. */
export function sitesOf(criteria: Criteria): string[] {
  const named = [...new Set(filterTexts(criteria, 'site').map(siteOf))];
  return named.length > 0 ? named : [DEFAULT_SITE];
}

/**
 * Returns the tags of a search (`filters.tagged`). A question must have at least one of them. If the list is empty, all
 * questions are wanted.
 */
export function tagsOf(criteria: Criteria): string[] {
  return [
    ...new Set(filterTexts(criteria, 'tagged').flatMap((text) => text.toLowerCase().split(/\s*;\s*/))),
  ].filter((tag) => tag !== '');
}

/** Returns a fault for each part of the criteria that Stack Exchange does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...faultsOfTexts(criteria, {
      key: 'site',
      wanted: 'a site of Stack Exchange such as "serverfault" or "unix", or a list of them',
      valid: (text) => SITE.test(siteOf(text)),
      max: MAX_SITES,
    }),
    ...faultsOfTexts(criteria, {
      key: 'tagged',
      wanted: 'a tag such as "node.js", or a list of them',
      valid: (text) => text.split(';').every((tag) => TAG.test(tag.trim())),
      max: MAX_TAGS,
    }),
    ...faultsOfSort('stackoverflow', criteria, ['newest']),
  ];
  // One text can contain several tags, separated by semicolons.
  if (faults.length === 0 && tagsOf(criteria).length > MAX_TAGS)
    faults.push({ path: 'filters.tagged', message: `must have at most ${MAX_TAGS} tags` });
  if (alternativesOf(criteria).length === 0 && tagsOf(criteria).length === 0) {
    const message = 'a search on stackoverflow needs a query, terms or filters.tagged';
    faults.push({ path: 'query', message });
  }
  return faults;
}

/** Returns the texts to search for. The API has no OR, so each term needs its own text. */
export function queriesOf(criteria: Criteria): string[] {
  return alternativesOf(criteria).map((phrases) => phrases.join(' '));
}

/**
 * Returns true if answers are also read. The upstream's search finds only questions. So in mode `platform`, a search
 * with words returns no answers.
 */
export function wantsAnswers(criteria: Criteria, match: MatchMode): boolean {
  return match !== 'platform' || alternativesOf(criteria).length === 0;
}

/** The part of a listing that a request reads. */
export interface Slice {
  site: string;
  /** Epoch seconds: the earliest creation; undefined at a first poll. */
  from: number | undefined;
  page: number;
  filter: string;
}

/** Returns the request for the newest questions that match `q` and have one of the tags. */
export function searchRequest(q: string | undefined, tags: readonly string[], slice: Slice): ApiRequest {
  const query = {
    ...(q !== undefined && { q }),
    ...(tags.length > 0 && { tagged: tags.join(';') }),
    ...queryOf(slice),
  };
  return { path: 'search/advanced', query };
}

/** Returns the request for the newest questions or answers of a site. */
export function newestRequest(path: 'questions' | 'answers', slice: Slice): ApiRequest {
  return { path, query: queryOf(slice) };
}

/** Returns `since` minus the delay of the index, in epoch seconds, rounded down to the shared step. */
export function fromOf(since: Date | undefined, lagSeconds: number): number | undefined {
  if (!since) return undefined;
  const seconds = since.getTime() / 1000 - lagSeconds;
  return Math.floor(seconds / SHARED_STEP_SECONDS) * SHARED_STEP_SECONDS;
}

function queryOf({ site, from, page, filter }: Slice): Record<string, string> {
  return {
    order: 'desc',
    sort: 'creation',
    ...(from !== undefined && { fromdate: String(from) }),
    site,
    filter,
    pagesize: String(PAGE_SIZE),
    page: String(page),
  };
}

// The API accepts both "unix" and "unix.stackexchange.com". Only one of them is used, because an item must always have
// the same id.
function siteOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '')
    .replace(/\.(stackexchange\.com|com|net)$/, '');
}
