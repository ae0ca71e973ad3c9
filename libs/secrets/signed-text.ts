import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import { masterKeys } from './secret-box.js';

const SIGNATURE_BYTES = 16;

/** Signed text that a caller receives and sends back unchanged. It is bound to a scope, and is not encrypted. */
export class SignedText {
  /** The first key is the current key, which signs. Texts of every key are valid. */
  private readonly keys: readonly [Buffer, ...Buffer[]];

  /**
   * @param masterKey MASTER_KEY, or keys in its form. Processes with the same keys accept the texts of each other.
   *   During a rotation, texts of an earlier key stay valid
   * @param purpose a text that was signed for one purpose is not valid for another purpose
   */
  constructor(masterKey: string, purpose: string) {
    const keyOf = (key: string) => createHmac('sha256', Buffer.from(key, 'hex')).update(purpose).digest();
    const [present, ...earlier] = masterKeys(masterKey);
    this.keys = [keyOf(present), ...earlier.map(keyOf)];
  }

  /** Returns a value as signed text. @param scope what the text is bound to; JSON, like the value */
  write(scope: unknown, value: unknown): string {
    const text = Buffer.from(JSON.stringify(value));
    return Buffer.concat([sign(this.keys[0], scope, text), text]).toString('base64url');
  }

  /**
   * Returns the value; undefined if the text was changed, or signed for another scope, for another purpose or with
   * another key.
   */
  read<T>(scope: unknown, signed: string): T | undefined {
    const bytes = Buffer.from(signed, 'base64url');
    // Node ignores characters that are not base64url, but such a text was changed.
    if (bytes.toString('base64url') !== signed) return undefined;
    const text = bytes.subarray(SIGNATURE_BYTES);
    const given = bytes.subarray(0, SIGNATURE_BYTES);
    if (given.length !== SIGNATURE_BYTES) return undefined;
    if (!this.keys.some((key) => timingSafeEqual(given, sign(key, scope, text)))) return undefined;
    return JSON.parse(text.toString()) as T;
  }
}

function sign(key: Buffer, scope: unknown, text: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(canonicalize(scope))
    .update('\0')
    .update(text)
    .digest()
    .subarray(0, SIGNATURE_BYTES);
}
