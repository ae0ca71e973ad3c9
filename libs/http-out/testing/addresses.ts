import fc from 'fast-check';

// Networks that must never be reached, at least one of each kind (private, loopback, multicast and so on). Each entry is
// the first octets of the addresses of a network.
const REFUSED_NETWORKS: readonly (readonly number[])[] = [
  [0],
  [10],
  [127],
  [169, 254],
  [172, 16],
  [172, 31],
  [192, 168],
  [100, 64],
  [100, 127],
  [192, 0, 0],
  [192, 0, 2],
  [198, 18],
  [198, 51, 100],
  [203, 0, 113],
  [224],
  [239],
  [240],
  [255],
];

const octet = fc.integer({ min: 0, max: 255 });

/** IPv4 addresses that are not public, in dotted notation. */
export const privateIpv4 = fc
  .tuple(fc.constantFrom(...REFUSED_NETWORKS), octet, octet, octet, octet)
  .map(([network, ...rest]) => [...network, ...rest].slice(0, 4).join('.'));

/** Public IPv4 addresses, in dotted notation. */
export const publicIpv4 = fc
  .tuple(fc.constantFrom(1, 8, 9, 23, 52, 93, 104, 142, 185, 208, 216), octet, octet, octet)
  .map((octets) => octets.join('.'));

/** Notations of an IPv4 address that URL parsers understand. */
export const v4Spelling: fc.Arbitrary<(address: string) => string> = fc.constantFrom(
  (a) => a,
  (a) => `${a}.`,
  (a) => String(asNumber(a)),
  (a) => `0x${asNumber(a).toString(16)}`,
  (a) => `0${asNumber(a).toString(8)}`,
  (a) =>
    octets(a)
      .map((o) => `0x${o.toString(16)}`)
      .join('.'),
  (a) =>
    octets(a)
      .map((o) => `0${o.toString(8)}`)
      .join('.'),
  (a) =>
    octets(a)
      .map((o) => `0X000${o.toString(16).toUpperCase()}`)
      .join('.'),
  (a) => `${octets(a)[0]}.${asNumber(a) % 2 ** 24}`,
  (a) => `${octets(a).slice(0, 2).join('.')}.${asNumber(a) % 2 ** 16}`,
  (a) => `0x${(octets(a)[0] ?? 0).toString(16)}.${asNumber(a) % 2 ** 24}`,
  // IDNA, the rules for international host names, changes full-width digits and `。` to ordinary digits and dots.
  (a) => a.replace(/\d/g, (d) => String.fromCodePoint(0xff10 + Number(d))).replaceAll('.', '。'),
  (a) => [...a].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
);

/** Ways to embed an IPv4 address in an IPv6 address. */
export const v4InV6: fc.Arbitrary<(address: string) => string> = fc.constantFrom(
  (a) => `::ffff:${a}`,
  (a) => `::ffff:${hextets(a)}`,
  (a) => `0:0:0:0:0:FFFF:${hextets(a).toUpperCase()}`,
  (a) => `::${hextets(a)}`,
  (a) => `::ffff:0:${hextets(a)}`,
  (a) => `64:ff9b::${hextets(a)}`,
  (a) => `64:ff9b:1::${hextets(a)}`,
  (a) => `2002:${hextets(a)}::1`,
  (a) => `2001:0:${hextets(a)}::1`,
  (a) =>
    `2001:0:808:808:0:0:${octets(a)
      .map((o) => 255 - o)
      .map(hexByte)
      .join('')
      .replace(/(.{4})/, '$1:')}`,
  (a) => `2606:4700::5efe:${hextets(a)}`,
);

function octets(address: string): number[] {
  return address.split('.').map(Number);
}

function asNumber(address: string): number {
  return octets(address).reduce((sum, one) => sum * 256 + one, 0);
}

function hextets(address: string): string {
  const hex = octets(address).map(hexByte).join('');
  return `${hex.slice(0, 4)}:${hex.slice(4)}`;
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
