import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_LENGTH = 43;

/** Makes a new API key: `ek_` and 43 base62 characters (256 bits). */
export function newApiKey(): string {
  let text = '';
  while (text.length < KEY_LENGTH)
    for (const byte of randomBytes(64)) {
      // 248 = 4 × 62: with larger values, some characters would be more likely than others.
      if (byte < 248 && text.length < KEY_LENGTH) text += ALPHABET[byte % 62];
    }
  return `ek_${text}`;
}

/** Returns true if the text has the form of an API key, whether the key exists or not. */
export function looksLikeApiKey(text: string): boolean {
  return /^ek_[0-9A-Za-z]{43}$/.test(text);
}

/** Returns the stored form of a key: SHA-256. The key is random, so a slow hash would not protect it better. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Compares two hashes in constant time. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Makes a new webhook signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
