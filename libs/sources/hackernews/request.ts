import type { MatchMode } from '#contracts';
import { quoted } from '../shared/terms.js';

const SEARCH_URL = 'https://hn.algolia.com/api/v1/search_by_date';
// Poll options are also indexed as items, but they are not separate publications.
const TAGS = '(story,comment,poll,job)';

/**
 * Items of one request. This is Algolia's maximum for a page and for all pages of a query. Responses are usually short,
 * because requests filter by time. If one second has more items, the rest cannot be read.
 */
export const PAGE_SIZE = 1_000;

/** The part of the index that one request reads, in epoch seconds. */
export interface Slice {
  /** Exclusive lower limit of the creation time. */
  after?: number | undefined;
  /** Inclusive upper limit of the creation time: the oldest instant read so far. */
  upTo?: number | undefined;
}

/** Returns the address of the newest items that contain all phrases. */
export function searchUrl(phrases: readonly string[], match: MatchMode, slice: Slice): string {
  return urlOf(slice, {
    query: phrases.map((phrase) => queryOf(phrase, match)).join(' '),
    // "humanoid" had 6,782 hits with typos allowed and 1,296 without. The site itself uses `min` when sorting by date.
    typoTolerance: match === 'platform' ? 'min' : 'false',
  });
}

/** Returns the address of the newest items of the whole site. */
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
      // Without quotes, the last word also matches as a prefix. This is the closest that Algolia has to a substring
      // search.
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
