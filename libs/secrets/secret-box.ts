import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Returns the keys of MASTER_KEY, the current key first. There are further keys only during a rotation. */
export function masterKeys(masterKey: string): [string, ...string[]] {
  return masterKey.split(',') as [string, ...string[]];
}

/**
 * Encrypts secrets at rest with AES-256-GCM. An encrypted secret is a nonce of 12 bytes, a tag of 16 bytes, and the
 * ciphertext. Encrypts with the current key, and decrypts with any key of MASTER_KEY.
 */
export class SecretBox {
  private readonly keys: readonly Buffer[];

  /** @param masterKey MASTER_KEY: 64 hexadecimal characters, or several such keys, separated by commas */
  constructor(masterKey: string) {
    this.keys = masterKeys(masterKey).map((key) => Buffer.from(key, 'hex'));
  }

  /** Whether MASTER_KEY also contains an earlier key. */
  get isRotating(): boolean {
    return this.keys.length > 1;
  }

  seal(text: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keys[0] as Buffer, nonce);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Decrypts what `seal` returned. @throws Error if none of the keys encrypted it, or if its bytes were changed */
  open(box: Uint8Array): string {
    return this.opened(box).text;
  }

  /**
   * Returns the same secret encrypted with the current key; undefined if it is already encrypted with the current key.
   * @throws Error if none of the keys encrypted the secret, or its bytes were changed
   */
  reseal(box: Uint8Array): Buffer | undefined {
    const { text, key } = this.opened(box);
    return key === this.keys[0] ? undefined : this.seal(text);
  }

  /** Decrypts a box with the first key that fits: GCM detects a wrong key. Throws if no key fits. */
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
