import type { MatchMode } from '#contracts';
import { quoted } from '../shared/terms.js';

const SEARCH_URL = 'https://hn.algolia.com/api/v1/search_by_date';
// Poll options are indexed as items too; they are no publication of their own.
const TAGS = '(story,comment,poll,job)';

/**
 * Items of one request: Algolia's own limit, and all that one query ever gives. The filter by time keeps the
 * answers short, and a burst of more within one second could not be paged through.
 */
export const PAGE_SIZE = 1_000;

/** The part of the index that one request reads, in epoch seconds. */
export interface Slice {
  /** Created after it. */
  after?: number | undefined;
  /** Created at it or before: the oldest instant read so far. */
  upTo?: number | undefined;
}

/** Newest items that hold all of the phrases. */
export function searchUrl(phrases: readonly string[], match: MatchMode, slice: Slice): string {
  return urlOf(slice, {
    query: phrases.map((phrase) => queryOf(phrase, match)).join(' '),
    // "humanoid" gave 6,782 hits with typos allowed and 1,296 without. By date even the site itself asks for `min`.
    typoTolerance: match === 'platform' ? 'min' : 'false',
  });
}

/** Newest items of the whole site. */
export function feedUrl(slice: Slice): string {
  return urlOf(slice, {});
}

function queryOf(phrase: string, match: MatchMode): string {
  switch (match) {
    case 'platform':
      return phrase;
    case 'word':
      return quoted(phrase);
    case 'contains':
      // Without quotes the last word matches as a prefix: the nearest thing to a substring that the index has.
      return /\s/.test(phrase) ? quoted(phrase) : phrase;
  }
}

function urlOf(slice: Slice, more: Record<string, string>): string {
  const filters = [
    slice.after === undefined ? '' : `created_at_i>${slice.after}`,
    slice.upTo === undefined ? '' : `created_at_i<=${slice.upTo}`,
  ].filter((filter) => filter !== '');
  const query = new URLSearchParams({ ...more, tags: TAGS, hitsPerPage: String(PAGE_SIZE) });
  if (filters.length > 0) query.set('numericFilters', filters.join(','));
  return `${SEARCH_URL}?${query}`;
}
