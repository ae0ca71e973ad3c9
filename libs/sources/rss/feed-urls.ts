import type { JsonObject } from '@bufbuild/protobuf';
import type { Criteria } from '#contracts';
import type { Fault } from '#kernel';
import type { NamedServer } from '../source.js';

const MAX_FEEDS = 20;
const PATH = 'filters.feed_urls';

/**
 * Returns the feeds of a search, without duplicates. `filters.feed_urls` is a list, or a text with commas or spaces
 * between the addresses.
 */
export function feedUrlsOf(criteria: Criteria): string[] {
  return [
    ...new Set(entriesOf(criteria).flatMap((entry) => (URL.canParse(entry) ? [new URL(entry).href] : []))),
  ];
}

/** Returns the address of each feed as a named server. */
export function feedServers(criteria: Criteria): NamedServer[] {
  return feedUrlsOf(criteria).map((url) => ({ path: PATH, url }));
}

/** Returns the faults of `filters.feed_urls`. */
export function feedUrlFaults(criteria: Criteria): Fault[] {
  const value = (criteria.filters as JsonObject | undefined)?.['feed_urls'];
  if (Array.isArray(value) && value.some((entry) => typeof entry !== 'string')) {
    return [{ path: PATH, message: 'must be a list of http or https addresses' }];
  }
  const entries = entriesOf(criteria);
  if (entries.length === 0) {
    return [{ path: PATH, message: `a search on rss needs 1 to ${MAX_FEEDS} addresses of feeds` }];
  }
  if (entries.length > MAX_FEEDS) return [{ path: PATH, message: `at most ${MAX_FEEDS} feeds` }];
  return entries.flatMap((entry) => {
    const fault = faultOf(entry);
    return fault === undefined ? [] : [{ path: PATH, message: `"${entry}" ${fault}` }];
  });
}

function faultOf(entry: string): string | undefined {
  if (!URL.canParse(entry)) return 'is not an address';
  const url = new URL(entry);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not an http or https address';
  return url.username === '' && url.password === ''
    ? undefined
    : 'must not contain a user name or a password';
}

function entriesOf(criteria: Criteria): string[] {
  const value = (criteria.filters as JsonObject | undefined)?.['feed_urls'];
  // An address can contain a comma, so a comma separates two addresses only if an address follows it.
  const entries = typeof value === 'string' ? value.split(/\s*,\s*(?=[a-z]+:)|\s+/i) : value;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) => (typeof entry === 'string' && entry.trim() !== '' ? [entry.trim()] : []));
}
