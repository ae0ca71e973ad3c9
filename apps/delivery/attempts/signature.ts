import { createHmac } from 'node:crypto';

/**
 * The headers that prove a delivery: `X-Signature` (hex HMAC-SHA256 of `<t>.<body>` under the secret's text) and the
 * three of Standard Webhooks (https://www.standardwebhooks.com), whose key is the base64 behind `whsec_`.
 * Made anew for each attempt: receivers refuse a timestamp older than 5 minutes.
 * @param body the exact bytes that are sent
 */
export function signatureHeaders(
  secret: string,
  eventId: string,
  body: Uint8Array,
  unixSeconds: number,
): Record<string, string> {
  const t = String(unixSeconds);
  const hex = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const standard = createHmac('sha256', key).update(`${eventId}.${t}.`).update(body).digest('base64');
  return {
    'x-signature': `t=${t},v1=${hex}`,
    'webhook-id': eventId,
    'webhook-timestamp': t,
    'webhook-signature': `v1,${standard}`,
  };
}
