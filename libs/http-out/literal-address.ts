import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.js';

/**
 * Returns why an address can never be reached: its host is a literal address that the policy refuses, or it is
 * `localhost` and the policy refuses 127.0.0.1. Does not check other names, because they are looked up when a request
 * connects.
 * @param url if it is not a URL, the result is undefined
 */
export function literalAddressFault(url: string, permits: AddressPolicy): string | undefined {
  if (!URL.canParse(url)) return undefined;
  // The parser has normalised every notation of an IPv4 address (127.1, 2130706433).
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : host;
  if (isIP(address) === 0 || permits(address)) return undefined;
  return `${host} is a private or reserved address, which is reached only if EGRESS_ALLOW contains it`;
}
