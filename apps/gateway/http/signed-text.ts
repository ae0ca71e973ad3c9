import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import { masterKeys } from '#secrets';

const SIGNATURE_BYTES = 16;

/** Text that goes out to a caller and comes back: opaque, signed, and bound to what it was made for. */
export class SignedText {
  private readonly key: Buffer;

  /**
   * @param masterKey MASTER_KEY; all gateways share it, so that what one has signed is good at another
   * @param purpose what is signed for one purpose is no good for another
   */
  constructor(masterKey: string, purpose: string) {
    this.key = createHmac('sha256', Buffer.from(masterKeys(masterKey)[0], 'hex'))
      .update(purpose)
      .digest();
  }

  /** @param scope what it is bound to; JSON, as is the value */
  write(scope: unknown, value: unknown): string {
    const text = Buffer.from(JSON.stringify(value));
    return Buffer.concat([this.sign(scope, text), text]).toString('base64url');
  }

  /** Undefined when the text was changed, or made for something else. */
  read<T>(scope: unknown, signed: string): T | undefined {
    const bytes = Buffer.from(signed, 'base64url');
    // Node passes over what is no base64url: the text was changed all the same.
    if (bytes.toString('base64url') !== signed) return undefined;
    const text = bytes.subarray(SIGNATURE_BYTES);
    const given = bytes.subarray(0, SIGNATURE_BYTES);
    if (given.length !== SIGNATURE_BYTES || !timingSafeEqual(given, this.sign(scope, text))) return undefined;
    return JSON.parse(text.toString()) as T;
  }

  private sign(scope: unknown, text: Buffer): Buffer {
    return createHmac('sha256', this.key)
      .update(canonicalize(scope))
      .update('\0')
      .update(text)
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}
