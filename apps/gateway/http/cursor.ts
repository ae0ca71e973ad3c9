import { Refusal } from '#kernel';
import { SignedText } from '#secrets';

/**
 * Writes and reads cursors. A cursor is signed, and valid only for the list and filters for which it was made. Clients
 * must not use its content.
 */
export class Cursors {
  private readonly signed: SignedText;

  /** @param masterKey MASTER_KEY */
  constructor(masterKey: string) {
    this.signed = new SignedText(masterKey, 'cursors');
  }

  /**
   * @param scope what the cursor is valid for: account, list, filters
   * @param position start of the next page; JSON
   */
  write(scope: unknown, position: unknown): string {
    return this.signed.write(scope, position);
  }

  /** @throws Refusal `invalid` if the cursor was changed, or belongs to another list, account or filter */
  read<T>(scope: unknown, cursor: string): T {
    const position = this.signed.read<T>(scope, cursor);
    if (position === undefined)
      throw Refusal.validation([
        {
          path: 'cursor',
          message: 'is not a cursor of this list with these filters; begin without a cursor',
        },
      ]);
    return position;
  }
}
