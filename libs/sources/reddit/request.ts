import type { JsonObject } from '@bufbuild/protobuf';
import type { Criteria, MatchMode } from '#contracts';
import type { Fault } from '#kernel';
import { quotedIfNeeded } from '../shared/terms.js';

const API = 'https://oauth.reddit.com';
const MAX_QUERY_LENGTH = 512;
const MAX_SUBREDDITS = 50;

/** Items of one page: reddit's maximum. */
export const PAGE_SIZE = 100;

/**
 * Returns the subreddits of a search: `filters.subreddit`, a name or a list of names. Empty if the search
 * is for all of reddit.
 */
export function subredditsOf(criteria: Criteria): string[] {
  const value = (criteria.filters as JsonObject | undefined)?.['subreddit'];
  const names = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,+]+/) : [];
  return names
    .filter((name) => typeof name === 'string')
    .map((name) => name.trim().replace(/^\/?r\//i, ''))
    .filter((name) => name !== '');
}

/** Returns the faults of `filters.subreddit` and of the query's length. */
export function faultsOf(criteria: Criteria): Fault[] {
  const faults: Fault[] = [];
  const value = (criteria.filters as JsonObject | undefined)?.['subreddit'];
  const names = subredditsOf(criteria);
  const texts = Array.isArray(value)
    ? value.every((one) => typeof one === 'string')
    : typeof value === 'string';
  if (value !== undefined && value !== null && !texts) {
    faults.push({ path: 'filters.subreddit', message: 'must be the name of a subreddit or a list of names' });
  }
  // The listings "all" and "popular" and profiles (u_<name>) are also allowed.
  const bad = names.find((name) => !/^[A-Za-z0-9_]{2,24}$/.test(name));
  if (bad !== undefined) {
    faults.push({ path: 'filters.subreddit', message: `"${bad}" is not the name of a subreddit` });
  }
  if (names.length > MAX_SUBREDDITS) {
    faults.push({ path: 'filters.subreddit', message: `at most ${MAX_SUBREDDITS} subreddits` });
  }
  if (queriesOf(criteria, 'word').some((query) => query.length > MAX_QUERY_LENGTH)) {
    faults.push({ path: 'query', message: `reddit takes at most ${MAX_QUERY_LENGTH} characters` });
  }
  return faults;
}

/**
 * Returns the `q` of each request of a search. Each `q` contains the query and as many terms, joined by OR, as the
 * length limit allows.
 */
export function queriesOf(criteria: Criteria, match: MatchMode): string[] {
  const query = criteria.query?.trim() ?? '';
  const front = query === '' || match === 'platform' ? query : quotedIfNeeded(query);
  const terms = [...new Set(criteria.terms.map((term) => term.trim()).filter((term) => term !== ''))];
  if (terms.length === 0) return front === '' ? [] : [front];
  const queries: string[] = [];
  let group: string[] = [];
  for (const term of terms.map(quotedIfNeeded)) {
    if (group.length > 0 && joined(front, [...group, term]).length > MAX_QUERY_LENGTH) {
      queries.push(joined(front, group));
      group = [];
    }
    group.push(term);
  }
  return [...queries, joined(front, group)];
}

/** Returns the address of the newest posts that match `q`. */
export function searchUrl(q: string, subreddits: readonly string[], after?: string): string {
  const within = subreddits.length > 0;
  return urlOf(`${placeOf(subreddits)}/search`, {
    q,
    sort: 'new',
    type: 'link',
    ...(within && { restrict_sr: '1' }),
    ...(after !== undefined && { after }),
  });
}

/** Returns the address of the newest posts or comments of the subreddits, or of all of reddit if the list is empty. */
export function newestUrl(what: 'new' | 'comments', subreddits: readonly string[], after?: string): string {
  return urlOf(`${placeOf(subreddits.length > 0 ? subreddits : ['all'])}/${what}`, {
    ...(after !== undefined && { after }),
  });
}

/** Returns the address of the subreddits that a user moderates. */
export function moderatedUrl(username: string): string {
  return urlOf(`/user/${encodeURIComponent(username)}/moderated_subreddits`, {});
}

/** Returns the address of reddit's data about a user. */
export function aboutUrl(username: string): string {
  return urlOf(`/user/${encodeURIComponent(username)}/about`, {});
}

function joined(front: string, terms: readonly string[]): string {
  const any = terms.length === 1 ? (terms[0] ?? '') : `(${terms.join(' OR ')})`;
  return front === '' ? any : `${front} ${any}`;
}

function placeOf(subreddits: readonly string[]): string {
  return subreddits.length === 0 ? '' : `/r/${subreddits.join('+')}`;
}

// Without raw_json=1 every text contains &amp;, &lt; and &gt; instead of the characters.
function urlOf(path: string, more: Record<string, string>): string {
  return `${API}${path}?${new URLSearchParams({ ...more, limit: String(PAGE_SIZE), raw_json: '1' })}`;
}
