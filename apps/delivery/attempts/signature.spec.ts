import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newSigningSecret } from '#secrets';
import { signatureHeaders } from './signature.js';

// Both signatures were computed with openssl, not with this code; the second is the specification's own example.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = Buffer.from('{"test": 2432232314}');

describe('the signature of a delivery', () => {
  it('is what openssl computes, in both of its forms', () => {
    const headers = signatureHeaders(SECRET, 'msg_p5jXN8AQM9LWM0D4loKWxJek', BODY, 1614265330);
    expect(headers['webhook-id']).toBe('msg_p5jXN8AQM9LWM0D4loKWxJek');
    expect(headers['webhook-timestamp']).toBe('1614265330');
    expect(headers['x-signature']).toBe(
      't=1614265330,v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964',
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is what a receiver computes that follows the interface: hex HMAC-SHA256 of "<t>.<raw body>" under the secret', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uuid(), fc.nat(), (body, eventId, t) => {
        const secret = newSigningSecret();
        const headers = signatureHeaders(secret, eventId, body, t);
        const [, sentAt, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-signature'] ?? '') ?? [];
        expect(sentAt).toBe(String(t));
        const signed = Buffer.concat([Buffer.from(`${sentAt}.`), body]);
        expect(hex).toBe(createHmac('sha256', secret).update(signed).digest('hex'));
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
        expect(key.length).toBe(32);
        const standard = Buffer.concat([
          Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`),
          body,
        ]);
        expect(headers['webhook-signature']).toBe(
          `v1,${createHmac('sha256', key).update(standard).digest('base64')}`,
        );
      }),
    );
  });

  it('changes with the body, the instant and the secret', () => {
    const of = (secret: string, body: string, t: number) =>
      signatureHeaders(secret, 'e', Buffer.from(body), t)['x-signature'];
    const signatures = [
      of(SECRET, 'a', 1),
      of(SECRET, 'b', 1),
      of(SECRET, 'a', 2),
      of(newSigningSecret(), 'a', 1),
    ];
    expect(new Set(signatures).size).toBe(4);
  });
});
