import { createHmac } from 'node:crypto';
import { verifyWebhook, WebhookVerificationError } from './index.js';

const SECRET = 'whsec_c2VjcmV0';
const PREVIOUS = 'whsec_b2xk';
const BODY = '{"id":"1","type":"hn_item.created","text":"naïve"}';
const NOW = 1_800_000_000;
const now = () => NOW * 1000;

const v1 = (body: string, t: number, secret = SECRET) =>
  `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
const header = (body = BODY, t = NOW) => `t=${t},${v1(body, t)}`;

describe('verifyWebhook', () => {
  it.each([
    ['a plain object', { 'x-signature': header() }],
    ['a plain object with capitals', { 'X-Signature': header() }],
    ['Headers', new Headers({ 'x-signature': header() })],
  ])('returns the event with the headers as %s', async (_, headers) => {
    expect(await verifyWebhook(BODY, headers, SECRET, { now })).toMatchObject({ id: '1', text: 'naïve' });
    expect(await verifyWebhook(Buffer.from(BODY), headers, SECRET, { now })).toMatchObject({ id: '1' });
  });

  it('accepts either signature during a rotation of the secret', async () => {
    const headers = { 'x-signature': `t=${NOW},${v1(BODY, NOW)},${v1(BODY, NOW, PREVIOUS)}` };
    for (const secret of [SECRET, PREVIOUS])
      expect(await verifyWebhook(BODY, headers, secret, { now })).toMatchObject({ id: '1' });
  });

  it.each([
    ['a changed body', BODY.replace('1', '2'), header(), 'no signature matches'],
    ['another time in the header', BODY, `t=${NOW + 1},${v1(BODY, NOW)}`, 'no signature matches'],
    ['a signature of another secret', BODY, `t=${NOW},${v1(BODY, NOW, PREVIOUS)}`, 'no signature matches'],
    ['an old delivery', BODY, header(BODY, NOW - 301), 'signed 301 s before or after'],
    ['a delivery from the future', BODY, header(BODY, NOW + 301), 'signed 301 s before or after'],
    ['no time', BODY, v1(BODY, NOW), 'does not have the form'],
    ['no signature', BODY, `t=${NOW}`, 'does not have the form'],
    ['a short signature', BODY, `t=${NOW},v1=ab`, 'does not have the form'],
    ['the legacy form', BODY, 'a'.repeat(64), 'signatureVersion'],
    ['a huge header', BODY, `${header()},${'v1=0,'.repeat(1000)}`, 'does not have the form'],
    ['an empty header', BODY, '', 'does not have the form'],
    ['a signed body that is not JSON', 'no', `t=${NOW},${v1('no', NOW)}`, 'is not JSON'],
  ])('refuses %s', async (_, body, signature, message) => {
    const verified = verifyWebhook(body, { 'x-signature': signature }, SECRET, { now });
    await expect(verified).rejects.toBeInstanceOf(WebhookVerificationError);
    await expect(verified).rejects.toThrow(message);
  });

  it('refuses a delivery without the header, and an empty or missing secret', async () => {
    await expect(verifyWebhook(BODY, {}, SECRET, { now })).rejects.toThrow('X-Signature is missing');
    for (const secret of ['', undefined as unknown as string])
      await expect(verifyWebhook(BODY, { 'x-signature': header() }, secret, { now })).rejects.toThrow(
        'empty',
      );
  });

  it('throws an error that names the mistake if the caller has parsed the body', async () => {
    const verified = verifyWebhook(JSON.parse(BODY), { 'x-signature': header() }, SECRET, { now });
    await expect(verified).rejects.toThrow('not a parsed body');
  });

  it('accepts an older delivery if toleranceSeconds allows it', async () => {
    const headers = { 'x-signature': header(BODY, NOW - 400) };
    const options = { now, toleranceSeconds: 600 };
    expect(await verifyWebhook(BODY, headers, SECRET, options)).toMatchObject({ id: '1' });
  });
});
