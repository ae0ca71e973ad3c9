import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { hmacKey, hmacSha256 } from './hmac.js';

const hex = (text: string) => Buffer.from(text, 'hex');
const filled = (byte: number, count: number) => Buffer.alloc(count, byte);

describe('hmacSha256', () => {
  it.each([
    [1, filled(0x0b, 20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      2,
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      3,
      filled(0xaa, 20),
      filled(0xdd, 50),
      '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    ],
    [
      4,
      hex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
      filled(0xcd, 50),
      '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    ],
    [
      6,
      filled(0xaa, 131),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
    [
      7,
      filled(0xaa, 131),
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
      '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    ],
  ])('returns the result of test case %i of RFC 4231', (_, key, data, expected) => {
    const bytes = Buffer.from(data as string);
    expect(hmacSha256(hmacKey(key), '', bytes, 'hex')).toBe(expected);
    if (typeof data === 'string')
      expect(hmacSha256(hmacKey(key), data, Buffer.alloc(0), 'hex')).toBe(expected);
  });

  it('returns the same as createHmac for keys, texts and bytes of different lengths', () => {
    const text = fc.string({ unit: 'binary', maxLength: 100 });
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(filled(7, 70_000)));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        text,
        bytes,
        fc.constantFrom('hex' as const, 'base64' as const),
        (key, before, behind, encoding) => {
          const expected = createHmac('sha256', key).update(before).update(behind).digest(encoding);
          expect(hmacSha256(hmacKey(key), before, behind, encoding)).toBe(expected);
        },
      ),
    );
  });
});
