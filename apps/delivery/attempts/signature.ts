import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';

interface Keys {
  /** The secret's text. */
  text: KeyObject;
  /** The bytes behind `whsec_`. */
  standard: KeyObject;
}

const keysOfSecrets = new LRUCache<string, Keys>({ max: 10_000 });

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
  const keys = keysOf(secret);
  const hex = createHmac('sha256', keys.text).update(`${t}.`).update(body).digest('hex');
  const standard = createHmac('sha256', keys.standard)
    .update(`${eventId}.${t}.`)
    .update(body)
    .digest('base64');
  return {
    'x-signature': `t=${t},v1=${hex}`,
    'webhook-id': eventId,
    'webhook-timestamp': t,
    'webhook-signature': `v1,${standard}`,
  };
}

function keysOf(secret: string): Keys {
  const known = keysOfSecrets.get(secret);
  if (known) return known;
  const keys = {
    text: createSecretKey(secret, 'utf8'),
    standard: createSecretKey(secret.replace(/^whsec_/, ''), 'base64'),
  };
  keysOfSecrets.set(secret, keys);
  return keys;
}
