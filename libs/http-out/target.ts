import { LRUCache } from 'lru-cache';
import type { AddressPolicy } from './address-policy.js';
import { OutboundError } from './outbound-error.js';

/** The target of one request, read from its URL once. */
export interface Target {
  /** Scheme, host and port, such as `https://example.org:8443`. */
  readonly origin: string;
  /** Host and port, for messages. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** True if the host is an IP address that the policy does not permit. */
  readonly blocked: boolean;
}

const TARGETS_KEPT = 5_000;
// URLs that are longer than this are not cached, because they would fill the cache. Most addresses of upstreams
// are shorter.
const CACHED_URL_LENGTH = 2_048;

/**
 * Makes a function that reads URLs. The function caches the latest results, because the same few thousand URLs are
 * requested again and again. The function throws OutboundError `invalid_url` for an address that cannot be requested.
 * @param permits decides about hosts that are IP addresses
 */
export function createTargetReader(permits: AddressPolicy): (url: string) => Target {
  const kept = new LRUCache<string, Target>({ max: TARGETS_KEPT });
  return (url) => {
    const known = kept.get(url);
    if (known) return known;
    const target = readTarget(url, permits);
    if (url.length <= CACHED_URL_LENGTH) kept.set(url, target);
    return target;
  };
}

/**
 * Returns the URL without query, fragment and credentials, for records. Returns an empty string for a text that is not
 * a URL.
 */
export function displayUrl(url: string): string {
  const parsed = safeParse(url);
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : '';
}

/**
 * Returns a function that replaces scheme, host and port of an address by those of an operator's proxy; path and query
 * stay. For `OutboundRequest.reroute`.
 */
export function rerouteTo(baseUrl: string): (url: string) => string {
  const { origin } = new URL(baseUrl);
  return (url) => {
    const { pathname, search } = new URL(url);
    return `${origin}${pathname}${search}`;
  };
}

function readTarget(url: string, permits: AddressPolicy): Target {
  const parsed = safeParse(url);
  if (!parsed) throw new OutboundError('invalid_url', 'the address is not a URL');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new OutboundError('invalid_url', 'only http and https addresses can be reached');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new OutboundError('invalid_url', 'the address must not contain a user name or a password');
  }
  if (parsed.port === '0') throw new OutboundError('invalid_url', 'port 0 cannot be reached');
  const literal = literalOf(parsed.hostname);
  return {
    origin: parsed.origin,
    host: parsed.host,
    path: `${parsed.pathname}${parsed.search}`,
    blocked: literal !== undefined && !permits(literal),
  };
}

// Returns the IP address in a URL, if the host is one. The URL parser has already normalised 127.1, 2130706433, 0x7f.1 and 0177.0.0.1 to 127.0.0.1.
function literalOf(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(hostname) ? hostname : undefined;
}

function safeParse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
