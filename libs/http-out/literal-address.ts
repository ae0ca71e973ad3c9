import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.js';
import { isLocalhost, LOOPBACK } from './localhost.js';

/**
 * Returns why an address can never be reached: its host is a literal address that the policy refuses, or `localhost` if
 * the policy refuses both addresses of `localhost`. Does not check other names, because they are looked up when a
 * request connects. Returns undefined if the address is not refused, or if it is not a URL.
 */
export function literalAddressFault(url: string, permits: AddressPolicy): string | undefined {
  if (!URL.canParse(url)) return undefined;
  // The parser has normalised every notation of an IPv4 address (127.1, 2130706433).
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const addresses = isLocalhost(host) ? LOOPBACK : isIP(host) === 0 ? [] : [host];
  if (addresses.length === 0 || addresses.some(permits)) return undefined;
  return `${host} is a private or reserved address, which is reached only if EGRESS_ALLOW contains it`;
}
