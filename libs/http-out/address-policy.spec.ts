import fc from 'fast-check';
import { createAddressPolicy, parseEgressAllow } from './address-policy.js';
import { privateIpv4, publicIpv4, v4InV6 } from './testing/addresses.js';

const permits = createAddressPolicy([]);

describe('the policy for outbound addresses', () => {
  it('refuses private, loopback, link-local, shared, multicast and reserved IPv4 addresses', () => {
    fc.assert(fc.property(privateIpv4, (address) => !permits(address)));
  });

  it('permits public IPv4 addresses', () => {
    fc.assert(fc.property(publicIpv4, (address) => permits(address)));
  });

  it('refuses a private IPv4 address inside an IPv6 address, in eleven embeddings', () => {
    fc.assert(fc.property(privateIpv4, v4InV6, (address, embed) => !permits(embed(address))));
  });

  it.each([
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['fec0::1', 'site-local'],
    ['fd00:ec2::254', 'a cloud metadata service'],
    ['fc00::1', 'unique local'],
    ['ff02::1', 'multicast'],
    ['100::1', 'discard'],
    ['2001:db8::1', 'documentation'],
    ['2002:808:808::1', '6to4, even of a public address'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
    ['64:ff9b:1::808:808', 'local-use NAT64'],
    ['::ffff:0:808:808', 'IPv4-translated'],
    ['2606:4700:0:1:0:5efe:7f00:1', 'ISATAP'],
    ['4000::1', 'outside global unicast'],
    ['169.254.169.254', 'the metadata service of most clouds'],
    ['168.63.129.16', "Azure's WireServer"],
    ['100.100.100.200', "Alibaba's metadata service"],
    ['0.0.0.0', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['not an address', 'not an address'],
    ['', 'an empty text'],
  ])('refuses %s (%s)', (address) => {
    expect(permits(address)).toBe(false);
  });

  it.each([['8.8.8.8'], ['2606:4700:4700::1111'], ['::ffff:8.8.8.8'], ['64:ff9b::808:808']])(
    'permits %s',
    (address) => {
      expect(permits(address)).toBe(true);
    },
  );

  it('permits the ranges in EGRESS_ALLOW, also in the IPv4-mapped form, and no other private address', () => {
    const allowing = createAddressPolicy(parseEgressAllow('10.1.0.0/16, fd12::/16 ::1'));
    expect(allowing('10.1.200.3')).toBe(true);
    expect(allowing('::ffff:10.1.200.3')).toBe(true);
    expect(allowing('fd12::9')).toBe(true);
    expect(allowing('::1')).toBe(true);
    expect(allowing('10.2.0.1')).toBe(false);
    expect(allowing('fd13::9')).toBe(false);
    expect(allowing('127.0.0.1')).toBe(false);
  });
});

describe('the parser of EGRESS_ALLOW', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' 10.0.0.0/8 ,192.168.1.5', ['10.0.0.0/8', '192.168.1.5/32']],
    ['fd00::/8 ::1', ['fd00::/8', '::1/128']],
    ['::ffff:10.0.0.0/104', ['10.0.0.0/8']],
  ])('reads %j', (text, expected) => {
    expect(parseEgressAllow(text)).toEqual(expected);
  });

  it.each([
    ['10.0.0.0/33'],
    ['10/8'],
    ['localhost'],
    ['10.0.0.0/8/8'],
    ['10.0.0.0/'],
    ['fd00::/129'],
    ['0x7f.1'],
  ])('refuses %s and names the faulty entry', (entry) => {
    expect(() => parseEgressAllow(`127.0.0.0/8,${entry}`)).toThrow(
      `EGRESS_ALLOW: "${entry}" is not an address range; expected CIDRs such as 10.0.0.0/8 or fd00::/8`,
    );
  });
});
