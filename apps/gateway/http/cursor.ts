import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalize } from 'json-canonicalize';
import { Refusal } from '#kernel';

const SIGNATURE_BYTES = 16;

/** Makes and reads cursors: opaque, signed, and good only for the list and the filters that they came from. */
export class Cursors {
  private readonly key: Buffer;

  /** @param masterKey MASTER_KEY; all gateways share it, so that a cursor of one is good at another */
  constructor(masterKey: string) {
    this.key = createHmac('sha256', Buffer.from(masterKey, 'hex')).update('cursors').digest();
  }

  /**
   * @param scope everything that the cursor is bound to: account, list, filters
   * @param position where the next page begins; JSON
   */
  write(scope: unknown, position: unknown): string {
    const text = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.sign(scope, text), text]).toString('base64url');
  }

  /** @throws Refusal 400 when the cursor was changed, or belongs to another list, account or filter */
  read<T>(scope: unknown, cursor: string): T {
    const bytes = Buffer.from(cursor, 'base64url');
    const text = bytes.subarray(SIGNATURE_BYTES);
    const given = bytes.subarray(0, SIGNATURE_BYTES);
    if (given.length !== SIGNATURE_BYTES || !timingSafeEqual(given, this.sign(scope, text)))
      throw Refusal.validation([
        { path: 'cursor', message: 'is not a cursor of this list with these filters; begin without one' },
      ]);
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
