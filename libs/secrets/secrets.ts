import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';

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

/** Returns the keys of MASTER_KEY, the current key first; further keys only during a rotation. */
export function masterKeys(masterKey: string): [string, ...string[]] {
  return masterKey.split(',') as [string, ...string[]];
}

/**
 * Encrypts secrets at rest with AES-256-GCM: 12 bytes nonce, 16 bytes tag, ciphertext. Encrypts with the current key
 * and decrypts with any of its keys.
 */
export class SecretBox {
  private readonly keys: readonly Buffer[];

  /** @param masterKey MASTER_KEY: 64 hexadecimal characters, or several such keys, separated by commas */
  constructor(masterKey: string) {
    this.keys = masterKeys(masterKey).map((key) => Buffer.from(key, 'hex'));
  }

  /** Whether the box can also decrypt with an earlier key. */
  get isRotating(): boolean {
    return this.keys.length > 1;
  }

  seal(text: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keys[0] as Buffer, nonce);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Decrypts a box. @throws Error if none of the keys encrypted the box, or the box was changed */
  open(box: Uint8Array): string {
    return this.opened(box).text;
  }

  /**
   * Returns the same secret encrypted with the current key; undefined if it is already encrypted with the current key.
   * @throws Error if none of the keys encrypted the box, or the box was changed
   */
  reseal(box: Uint8Array): Buffer | undefined {
    const { text, key } = this.opened(box);
    return key === this.keys[0] ? undefined : this.seal(text);
  }

  /** GCM detects a wrong key. */
  private opened(box: Uint8Array): { text: string; key: Buffer } {
    let failure: unknown;
    for (const key of this.keys)
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, 12));
        decipher.setAuthTag(box.subarray(12, 28));
        const text = Buffer.concat([decipher.update(box.subarray(28)), decipher.final()]).toString('utf8');
        return { text, key };
      } catch (error) {
        failure = error;
      }
    throw failure;
  }
}
