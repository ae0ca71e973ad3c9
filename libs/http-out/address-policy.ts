import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** True if connections to the address are allowed. The address is an IP in any notation that `ipaddr.js` reads. */
export type AddressPolicy = (address: string) => boolean;

// Addresses in a public range that are internal to a cloud: Azure's WireServer gives out machine credentials.
const PUBLIC_BUT_INTERNAL: readonly Range[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]];
// The IPv6 internet is in 2000::/3. All other addresses are local, reserved or for transition schemes.
const GLOBAL_UNICAST: Range = [ipaddr.IPv6.parse('2000::'), 3];
// NAT64: machines without IPv4 reach the IPv4 internet through this prefix. The last 32 bits are the IPv4 address.
const NAT64: Range = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/**
 * Returns the policy for outbound requests: allows public unicast addresses that are not internal to a cloud, and the
 * CIDRs in `allow` (see `parseEgressAllow`). An IPv4-mapped address is checked in its IPv4 form. A NAT64 address counts
 * as public if the IPv4 address in it is public; only an IPv6 range in `allow` can allow it otherwise.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const allowed = allow.map((cidr) => ipaddr.parseCIDR(cidr) as Range);
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return allowed.some((range) => within(address, range)) || isPublic(address);
  };
}

/**
 * Reads `EGRESS_ALLOW`: CIDRs or single addresses, separated by commas or spaces; can be empty or absent.
 * @returns CIDRs; a single address becomes a range of one address
 * @throws Error that names the faulty entry
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
  // IPv4-mapped addresses are checked in their IPv4 form, so the range must have that form as well.
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

// ISATAP (RFC 5214) puts an IPv4 address after 0:5efe or 200:5efe with any prefix.
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
