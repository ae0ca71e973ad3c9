import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { newSigningSecret } from '#secrets';
import { checkout } from '#testing';
import { signatureHeaders } from './signature.js';

// The two signatures of the first test were computed with openssl, not with this code. The second signature is the
// example of the Standard Webhooks specification.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = Buffer.from('{"test": 2432232314}');

const signed = (
  secrets: readonly string[],
  eventId: string,
  body: Uint8Array,
  t: number,
  legacy = false,
): Record<string, string | undefined> => {
  const list = signatureHeaders({ secrets, legacy }, eventId, body, t);
  return Object.fromEntries(list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1]]] : [])));
};

const hexOf = (secret: string, ...parts: (string | Uint8Array)[]) =>
  parts.reduce((sum, part) => sum.update(part), createHmac('sha256', secret)).digest('hex');

const standardOf = (secret: string, ...parts: (string | Uint8Array)[]) => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return parts.reduce((sum, part) => sum.update(part), createHmac('sha256', key)).digest('base64');
};

describe('the signature of a delivery', () => {
  it('equals the signature that openssl computes, in `X-Signature` and in `webhook-signature`', () => {
    const headers = signed([SECRET], 'msg_p5jXN8AQM9LWM0D4loKWxJek', BODY, 1614265330);
    expect(headers['webhook-id']).toBe('msg_p5jXN8AQM9LWM0D4loKWxJek');
    expect(headers['webhook-timestamp']).toBe('1614265330');
    expect(headers['x-signature']).toBe(
      't=1614265330,v1=2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964',
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('has one part for each secret, and each part is computed as docs/api.md and Standard Webhooks describe', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uuid(), fc.nat(), fc.integer({ min: 1, max: 2 }), (body, id, t, n) => {
        const secrets = Array.from({ length: n }, newSigningSecret);
        const headers = signed(secrets, id, body, t);
        const parts = secrets.map((secret) => `v1=${hexOf(secret, `${t}.`, body)}`);
        expect(headers['x-signature']).toBe([`t=${t}`, ...parts].join(','));
        expect(headers['webhook-signature']).toBe(
          secrets.map((secret) => `v1,${standardOf(secret, `${id}.${t}.`, body)}`).join(' '),
        );
      }),
    );
  });

  it('has a legacy form in `X-Signature`: the plain hex HMAC of the body with the current secret', () => {
    const secrets = [newSigningSecret(), newSigningSecret()];
    const legacy = signed(secrets, 'e', BODY, 1614265330, true);
    expect(legacy['x-signature']).toBe(hexOf(secrets[0] ?? '', BODY));
    expect(legacy['webhook-signature']).toBe(signed(secrets, 'e', BODY, 1614265330)['webhook-signature']);
  });

  it('changes with the body, the time and the secret', () => {
    const of = (secret: string, body: string, t: number) =>
      signed([secret], 'e', Buffer.from(body), t)['x-signature'];
    const signatures = [
      of(SECRET, 'a', 1),
      of(SECRET, 'b', 1),
      of(SECRET, 'a', 2),
      of(newSigningSecret(), 'a', 1),
    ];
    expect(new Set(signatures).size).toBe(4);
  });
});

describe('the receiver that docs/api.md shows', () => {
  const page = readFileSync(new URL('docs/api.md', checkout), 'utf8');
  const code = /```js\n.*?(function verify.*?)```/s.exec(page)?.[1];
  const verify = runInNewContext(`${code}; verify`, { Buffer, Date, createHmac, timingSafeEqual }) as (
    secret: string,
    header: string | undefined,
    rawBody: string,
  ) => boolean;
  const now = Math.floor(Date.now() / 1000);
  const [present, previous] = [newSigningSecret(), newSigningSecret()];
  const header = (secrets: string[], t = now) => signed(secrets, 'e1', BODY, t)['x-signature'];

  it('accepts a delivery with the signature of the receiver’s secret, even beside the signature of another secret', () => {
    expect(verify(present, header([present]), BODY.toString())).toBe(true);
    for (const secret of [present, previous])
      expect(verify(secret, header([present, previous]), BODY.toString())).toBe(true);
  });

  it('rejects a delivery with another secret, other bytes, an old time or a header of another form', () => {
    expect(verify(previous, header([present]), BODY.toString())).toBe(false);
    expect(verify(present, header([present]), `${BODY.toString()} `)).toBe(false);
    expect(verify(present, header([present], now - 600), BODY.toString())).toBe(false);
    for (const odd of ['', 't=', `t=${now}`, `t=${now},v1`, `t=${now},v1=`, 'v1=ab', '=,=,'])
      expect(verify(present, odd, BODY.toString())).toBe(false);
  });
});
