import { LRUCache } from 'lru-cache';
import { hmacKey, hmacSha256, type HmacKey } from './hmac.js';

interface Keys {
  /** The key that consists of the secret's text. */
  text: HmacKey;
  /** The key that consists of the decoded base64 after `whsec_`. */
  standard: HmacKey;
}

const keysOfSecrets = new LRUCache<string, Keys>({ max: 10_000 });

/** The signing settings of an account. */
export interface Signing {
  /** The present secret comes first. For 24 h after a rotation, the previous secret follows. */
  secrets: readonly string[];
  /** True: `X-Signature` is one hex HMAC-SHA256 of the body alone, with the present secret and without a timestamp. */
  legacy: boolean;
}

/**
 * Returns the signature headers of a delivery. `X-Signature` is `t=<t>,v1=<signature>`, the hex HMAC-SHA256 of
 * `<t>.<body>` with the secret's text as the key (for legacy, see `Signing`). The other three are the headers of
 * Standard Webhooks (https://www.standardwebhooks.com), whose key is the decoded base64 after `whsec_`. Both kinds
 * contain one signature for each secret, except the legacy form. The signatures are computed for each attempt, because
 * they contain a timestamp, and receivers refuse a timestamp that is older than 5 minutes.
 * @param body the exact bytes that are sent
 * @returns names and values alternately, as undici expects them
 * @throws Error if there is no secret
 */
export function signatureHeaders(
  { secrets, legacy }: Signing,
  eventId: string,
  body: Uint8Array,
  unixSeconds: number,
): string[] {
  const t = String(unixSeconds);
  const keys = secrets.map(keysOf);
  const [present] = keys;
  if (!present) throw new Error('the account has no signing secret');
  const own = legacy
    ? hmacSha256(present.text, '', body, 'hex')
    : `t=${t},${keys.map(({ text }) => `v1=${hmacSha256(text, `${t}.`, body, 'hex')}`).join(',')}`;
  const before = `${eventId}.${t}.`;
  const standard = keys.map((key) => `v1,${hmacSha256(key.standard, before, body, 'base64')}`).join(' ');
  return ['x-signature', own, 'webhook-id', eventId, 'webhook-timestamp', t, 'webhook-signature', standard];
}

function keysOf(secret: string): Keys {
  const known = keysOfSecrets.get(secret);
  if (known) return known;
  const keys = {
    text: hmacKey(Buffer.from(secret)),
    standard: hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')),
  };
  keysOfSecrets.set(secret, keys);
  return keys;
}
