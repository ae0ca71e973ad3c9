import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.js';

/**
 * What is wrong with an address that could never be connected to: one whose host is a literal that the policy refuses,
 * or `localhost`. Names are looked up when they are connected to, and not here.
 * @param url one that is no URL has no fault here
 */
export function literalAddressFault(url: string, permits: AddressPolicy): string | undefined {
  if (!URL.canParse(url)) return undefined;
  // The parser has brought every spelling of an IPv4 address (127.1, 2130706433) into one.
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : host;
  if (isIP(address) === 0 || permits(address)) return undefined;
  return `${host} is a private or reserved address, which is not reached unless EGRESS_ALLOW names it`;
}
