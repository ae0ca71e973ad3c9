import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_LENGTH = 43;

/** A new API key: `ek_` and 43 base62 characters (256 bits). */
export function newApiKey(): string {
  let text = '';
  while (text.length < KEY_LENGTH)
    for (const byte of randomBytes(64)) {
      // 248 = 4 × 62: values above would make some characters likelier than others.
      if (byte < 248 && text.length < KEY_LENGTH) text += ALPHABET[byte % 62];
    }
  return `ek_${text}`;
}

/** True when the text has the form of an API key; says nothing about whether it is one. */
export function looksLikeApiKey(text: string): boolean {
  return /^ek_[0-9A-Za-z]{43}$/.test(text);
}

/** What is stored of a key: SHA-256. The key is random, so a slow hash would guard nothing. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Compares two hashes in constant time. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A new webhook signing secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Encrypts secrets at rest with AES-256-GCM: 12 bytes nonce, 16 bytes tag, ciphertext. */
export class SecretBox {
  private readonly key: Buffer;

  /** @param masterKey MASTER_KEY: 64 hexadecimal characters */
  constructor(masterKey: string) {
    this.key = Buffer.from(masterKey, 'hex');
  }

  seal(text: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error when the box was sealed under another key, or changed */
  open(box: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', this.key, box.subarray(0, 12));
    decipher.setAuthTag(box.subarray(12, 28));
    return Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString('utf8');
  }
}
