import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** True when an address (an IP in any spelling that `ipaddr.js` reads) may be connected to. */
export type AddressPolicy = (address: string) => boolean;

// Every request asks, of the same few thousand addresses.
const VERDICTS_KEPT = 5_000;
// Public by its range, and yet the inside of a cloud: Azure's WireServer hands out machine credentials.
const PUBLIC_BUT_INTERNAL: readonly Range[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]];
// All of the IPv6 internet is in 2000::/3; whatever lies outside is local, reserved or a transition scheme.
const GLOBAL_UNICAST: Range = [ipaddr.IPv6.parse('2000::'), 3];
// How a machine without IPv4 reaches the IPv4 internet; the last 32 bits say where.
const NAT64: Range = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * The policy of the outbound door: public unicast addresses, and whatever `allow` (CIDRs, see
 * `parseEgressAllow`) holds. An IPv4 address inside an IPv6 one is judged by the IPv4 address.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const allowed = allow.map((cidr) => ipaddr.parseCIDR(cidr) as Range);
  const permits = (text: string) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return allowed.some((range) => within(address, range)) || isPublic(address);
  };
  const verdicts = new LRUCache<string, boolean>({ max: VERDICTS_KEPT });
  return (text) => {
    const known = verdicts.get(text);
    if (known !== undefined) return known;
    const verdict = permits(text);
    verdicts.set(text, verdict);
    return verdict;
  };
}

/**
 * Reads `EGRESS_ALLOW`: CIDRs or single addresses, separated by commas or spaces; empty or absent is none.
 * Throws an `Error` that names the faulty entry.
 */
export function parseEgressAllow(text: string | undefined): string[] {
  return (text ?? '')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(normalizedCidr);
}

function normalizedCidr(entry: string): string {
  const [address = '', prefix, ...rest] = entry.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (isIP(address) === 0 || rest.length > 0 || !(length <= bits)) {
    throw new Error(
      `EGRESS_ALLOW: "${entry}" is not an address range; expected CIDRs such as 10.0.0.0/8 or fd00::/8`,
    );
  }
  const parsed = ipaddr.parse(address);
  // Addresses are judged in their IPv4 form, so the range must be in it too.
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && length >= 96) {
    return `${parsed.toIPv4Address().toString()}/${length - 96}`;
  }
  return `${parsed.toString()}/${length}`;
}

function isPublic(address: Address): boolean {
  if (PUBLIC_BUT_INTERNAL.some((range) => within(address, range))) return false;
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (within(address, NAT64)) return isPublic(lastFourBytes(address));
  return address.range() === 'unicast' && within(address, GLOBAL_UNICAST) && !isIsatap(address);
}

// ISATAP (RFC 5214) hides an IPv4 address behind 0:5efe or 200:5efe under any prefix.
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high = 0, low = 0] = address.parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}

function lastFourBytes(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

function within(address: Address, [network, bits]: Range): boolean {
  return (
    address.kind() === network.kind() &&
    (address.match as (other: Address, bits: number) => boolean).call(address, network, bits)
  );
}
