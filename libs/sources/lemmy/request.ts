import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { faultsOfSort, faultsOfTexts, filterTexts } from '../shared/filters.js';
import { instanceFaults } from '../shared/instances.js';
import { alternativesOf } from '../shared/terms.js';
import type { Site } from './site.js';

/** Posts or comments on one page. This is Lemmy's maximum; it refuses larger pages. */
export const PAGE_SIZE = 50;

/** The page: its number, or the cursor that the response for the previous page contained. */
export interface PageMark {
  page: number;
  cursor?: string | undefined;
}

const MAX_COMMUNITIES = 10;
const COMMUNITY = /^[a-z0-9_]+(@[a-z0-9.-]+)?$/i;

/** Returns the communities of a search (`filters.community`), as `name` or `name@server`, without duplicates. */
export function communitiesOf(criteria: Criteria): string[] {
  return [...new Set(filterTexts(criteria, 'community').map(communityOf))];
}

/** Returns a fault for each part of the criteria that Lemmy does not support. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults = [
    ...instanceFaults(criteria, 'lemmy.world'),
    ...faultsOfTexts(criteria, {
      key: 'community',
      wanted: 'a community such as "technology@lemmy.world", or a list of them',
      valid: (text) => COMMUNITY.test(communityOf(text)),
      max: MAX_COMMUNITIES,
    }),
    ...faultsOfSort('lemmy', criteria, ['newest']),
  ];
  if (alternativesOf(criteria).length === 0 && communitiesOf(criteria).length === 0) {
    faults.push({ path: 'query', message: 'a search on lemmy needs a query, terms or filters.community' });
  }
  return faults;
}

/**
 * Returns the texts to search for. Lemmy finds posts and comments that contain the given text exactly, even as a part
 * of a longer word. It has no OR, so each term needs a request. Query and term can occur in any order, so Earshot
 * searches only for the longer of them and matches the results itself. In mode `platform` it searches for both
 * together.
 */
export function queriesOf(criteria: Criteria, match: MatchMode): string[] {
  const queries = alternativesOf(criteria).map((phrases) =>
    match === 'platform' ? phrases.join(' ') : phrases.reduce((a, b) => (b.length > a.length ? b : a)),
  );
  return [...new Set(queries.map((query) => query.replace(/["\u201c\u201d]/g, ' ').trim()))];
}

/** Returns the address of the newest posts and comments that contain `q`, in one community or in all. */
export function searchPath({ api }: Site, q: string, community: string | undefined, mark: PageMark): string {
  const [all, sort] = api === 'v3' ? ['All', 'New'] : ['all', 'new'];
  return pathOf(api, 'search', mark, { q, type_: all, sort, listing_type: all, ...within(community) });
}

/**
 * Returns the address of the newest posts or comments of one community, or of all communities that the instance knows.
 */
export function newestPath(
  { api }: Site,
  what: 'post' | 'comment',
  community: string | undefined,
  mark: PageMark,
): string {
  const [all, sort] = api === 'v3' ? ['All', 'New'] : ['all', 'new'];
  return pathOf(api, `${what}/list`, mark, { type_: all, sort, ...within(community) });
}

// v3 and older servers of v4 know `community_name`, and newer servers of v4 know `community_name_or_id`. Both are sent,
// because a server ignores the name that it does not know.
function within(community: string | undefined): Record<string, string> {
  return community === undefined ? {} : { community_name: community, community_name_or_id: community };
}

function pathOf(
  api: Site['api'],
  path: string,
  { page, cursor }: PageMark,
  more: Record<string, string>,
): string {
  const query = new URLSearchParams({
    ...more,
    limit: String(PAGE_SIZE),
    ...(cursor !== undefined ? { page_cursor: cursor } : api === 'v3' && { page: String(page) }),
  });
  return `/api/${api}/${path}?${query}`;
}

function communityOf(text: string): string {
  return text.replace(/^(?:!|\/?c\/)/i, '').toLowerCase();
}
